#include "cuda/kernels.h"
#include "cuda/tile/batch_norm_channel.cuh"
#include "cuda/tile/columns.cuh"

// One pass over x and dy for sums of pieces of each channel, a small kernel that adds them up, one
// pass for dx.
namespace acgan::cuda {
namespace {

template <typename T>
struct BackwardInput {
  const T *x, *dy;
  ChannelArrays arrays;
  ColumnTiling tiling;
};

// With dy' = dy * activation'(y): sums of dy' and of dy' * (x - mean), the latter still without the
// factor 1 / deviation of dgamma.
struct BackwardTerms {
  float direct, centred;
};

__device__ __forceinline__ BackwardTerms backward_terms(const Channel& channel, float x, float dy,
                                                        float below) {
  const float gradient = channel.output(x) > 0.0f ? dy : dy * below;
  return {gradient, gradient * (x - channel.mean)};
}

// Blocks for a multiprocessor. Left to itself ptxas spills for a fifth one on sm_120.
template <typename T>
inline constexpr int kSumBlocks = sizeof(T) == 4 ? 4 : 3;

template <typename T, int kWidth>
__global__ void __launch_bounds__(kColumnThreads, kSumBlocks<T>)
    backward_sums_kernel(BackwardInput<T> input, float* partials) {
  const ColumnTiling& tiling = input.tiling;
  const ColumnPlace place = column_place<kWidth>(tiling);
  const float below = slope_below(input.arrays.activation);
  Channel channels[kWidth] = {};
  for_own_channels<kWidth>(tiling, place,
                           [&](int v, int c) { channels[v] = channel_of(input.arrays, c); });
  float sum[2 * kWidth] = {};
  for_own_rows<2>(tiling, place, [&]<int n>(std::int64_t row, Constant<n>) {
    float value[n][kWidth], gradient[n][kWidth];
#pragma unroll
    for (int r = 0; r < n; ++r) {
      const std::int64_t i = (row + r * std::int64_t{tiling.lanes}) * tiling.width + place.column;
      load(input.x + i, value[r]);
      load(input.dy + i, gradient[r]);
    }
#pragma unroll
    for (int r = 0; r < n; ++r) {
#pragma unroll
      for (int v = 0; v < kWidth; ++v) {
        const BackwardTerms terms = backward_terms(channels[v], value[r][v], gradient[r][v], below);
        sum[v] += terms.direct;
        sum[kWidth + v] += terms.centred;
      }
    }
  });
  combine_lanes(tiling.lanes, place.lane, tiling.block_groups, sum, AddValues{});
  if (!place.active || place.lane != 0) return;
  float* direct = partials + std::int64_t{place.split} * tiling.width + place.column;
  float* centred = direct + tiling.partials * tiling.channels;
#pragma unroll
  for (int v = 0; v < kWidth; ++v) {
    direct[v] = sum[v];
    centred[v] = sum[kWidth + v];
  }
}

struct BackwardResult {
  float *sum_direct, *sum_normalised;  // [channels] each, for the pass that writes dx
  float *dgamma, *dbeta;               // or null
  Accumulation accumulation;
};

template <typename T>
__global__ void __launch_bounds__(kColumnThreads)
    finish_backward_kernel(BackwardInput<T> input, const float* partials, BackwardResult result) {
  const ColumnTiling& tiling = input.tiling;
  const FinishPlace place = finish_place(tiling.channels);
  float sum[2] = {};
  if (place.active) {
    const float* centred = partials + tiling.partials * tiling.channels;
    for (std::int64_t p = place.lane; p < tiling.partials; p += place.lanes) {
      const std::int64_t i = p * tiling.channels + place.channel;
      sum[0] += partials[i];
      sum[1] += centred[i];
    }
    const Channel channel = channel_of(input.arrays, place.channel);
    for (std::int64_t row = tiling.wide_rows * tiling.join + place.lane; row < tiling.rows;
         row += place.lanes) {
      const std::int64_t i = row * tiling.channels + place.channel;
      const BackwardTerms terms = backward_terms(channel, widen(input.x[i]), widen(input.dy[i]),
                                                 slope_below(input.arrays.activation));
      sum[0] += terms.direct;
      sum[1] += terms.centred;
    }
  }
  combine_lanes(place.lanes, place.lane, place.block_channels, sum, AddValues{});
  if (!place.active || place.lane != 0) return;
  const float normalised = sum[1] * inverse_deviation(input.arrays.variance[place.channel]);
  result.sum_direct[place.channel] = sum[0];
  result.sum_normalised[place.channel] = normalised;
  if (result.dgamma == nullptr) return;
  write_sum(result.dgamma + place.channel, normalised, result.accumulation);
  write_sum(result.dbeta + place.channel, sum[0], result.accumulation);
}

// dx = scale * (dy' - offset - (x - mean) * slope)
struct InputGradient {
  Channel channel;
  float offset, slope;

  __device__ __forceinline__ float operator()(float x, float dy, float below) const {
    const float gradient = channel.output(x) > 0.0f ? dy : dy * below;
    return channel.scale * (gradient - offset - (x - channel.mean) * slope);
  }
};

template <typename T, int kWidth>
__global__ void __launch_bounds__(kColumnThreads)
    input_gradient_kernel(BackwardInput<T> input, BackwardResult sums, T* dx) {
  const ColumnTiling& tiling = input.tiling;
  const ColumnPlace place = column_place<kWidth>(tiling);
  const float below = slope_below(input.arrays.activation);
  const float share = 1.0f / static_cast<float>(tiling.rows);
  InputGradient gradients[kWidth] = {};
  for_own_channels<kWidth>(tiling, place, [&](int v, int c) {
    gradients[v] = {channel_of(input.arrays, c), sums.sum_direct[c] * share,
                    sums.sum_normalised[c] * inverse_deviation(input.arrays.variance[c]) * share};
  });
  for_own_rows<2>(tiling, place, [&]<int n>(std::int64_t row, Constant<n>) {
    const std::int64_t step = std::int64_t{tiling.lanes} * tiling.width;
    const std::int64_t begin = row * tiling.width + place.column;
    const std::int64_t count = tiling.rows * tiling.channels;
    if (begin + (n - 1) * step + kWidth <= count) {
      float value[n][kWidth], gradient[n][kWidth];  // all loads first: dx may be dy
#pragma unroll
      for (int r = 0; r < n; ++r) {
        load(input.x + begin + r * step, value[r]);
        load(input.dy + begin + r * step, gradient[r]);
      }
#pragma unroll
      for (int r = 0; r < n; ++r) {
#pragma unroll
        for (int v = 0; v < kWidth; ++v) {
          value[r][v] = gradients[v](value[r][v], gradient[r][v], below);
        }
        store(dx + begin + r * step, value[r]);
      }
      return;
    }
#pragma unroll 1
    for (int r = 0; r < n; ++r) {  // the last wide row is not whole
#pragma unroll
      for (int v = 0; v < kWidth; ++v) {
        const std::int64_t i = begin + r * step + v;
        if (i < count)
          dx[i] = narrow<T>(gradients[v](widen(input.x[i]), widen(input.dy[i]), below));
      }
    }
  });
}

template <typename T>
void launch_backward(const BatchNormBackward& a, float* scratch, Stream stream) {
  constexpr int kWidth = kVectorWidth<T>;
  const std::int64_t channels = a.x.shape.back();
  const std::int64_t rows = a.x.count() / channels;
  const BackwardResult result{scratch, scratch + channels, static_cast<float*>(a.dgamma.data),
                              static_cast<float*>(a.dbeta.data), a.accumulation};
  float* partials = scratch + 2 * channels;
  BackwardInput<T> input{a.x.as<T>(),
                         a.dy.as<T>(),
                         {a.gamma.as<float>(), a.beta.as<float>(), a.mean.as<float>(),
                          a.variance.as<float>(), a.activation},
                         {}};

  const bool vectors = vectors_allowed<kWidth>(input.x, input.dy);
  input.tiling = tile_columns(rows, channels, vectors ? kWidth : 1, kReduce);
  if (input.tiling.splits > 0) {
    launch(vectors ? backward_sums_kernel<T, kWidth> : backward_sums_kernel<T, 1>,
           input.tiling.grid(), kColumnBlock, 0, stream, input, partials);
  }
  launch(finish_backward_kernel<T>, finish_grid(input.tiling.channels), kColumnBlock, 0, stream,
         input, partials, result);

  T* dx = a.dx.as<T>();
  const bool dx_vectors = vectors && vectors_allowed<kWidth>(dx);
  input.tiling = tile_columns(rows, channels, dx_vectors ? kWidth : 1, kStream);
  launch(dx_vectors ? input_gradient_kernel<T, kWidth> : input_gradient_kernel<T, 1>,
         input.tiling.grid(), kColumnBlock, 0, stream, input, result, dx);
}

}  // namespace

void launch_batch_norm_backward(const BatchNormBackward& arguments, float* scratch, Stream stream) {
  visit_dtype(arguments.x.dtype,
              [&]<typename T>(T) { launch_backward<T>(arguments, scratch, stream); });
}

}  // namespace acgan::cuda
