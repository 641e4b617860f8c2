#include "cuda/kernels.h"
#include "cuda/tile/batch_norm_channel.cuh"
#include "cuda/tile/columns.cuh"

// One pass over x for the statistics of pieces of each channel, a small kernel that merges them,
// one pass for y. No statistic is a difference of large numbers: pieces keep their own mean, and
// are merged as in Chan, Golub & LeVeque 1979.
namespace acgan::cuda {
namespace {

// ---- statistics
// Merges a piece of `count_b` values into one of `count`, for values mean[kWidth], m2[kWidth].
template <int kWidth>
__device__ __forceinline__ void merge_moments(float* mean, float* m2, float count,
                                              const float* mean_b, const float* m2_b,
                                              float count_b) {
  const float weight = count == 0.0f ? 1.0f : __fdividef(count_b, count + count_b);
  const float cross = count * weight;
#pragma unroll
  for (int v = 0; v < kWidth; ++v) {
    const float delta = mean_b[v] - mean[v];
    mean[v] += delta * weight;
    m2[v] += m2_b[v] + delta * cross * delta;
  }
}

// Lane values: mean[kWidth], sum of squared deviations[kWidth], count.
template <int kWidth>
struct MergeMoments {
  __device__ __forceinline__ void operator()(float (&value)[2 * kWidth + 1],
                                             const float (&other)[2 * kWidth + 1]) const {
    const float count = other[2 * kWidth];
    if (count == 0.0f) return;
    merge_moments<kWidth>(value, value + kWidth, value[2 * kWidth], other, other + kWidth, count);
    value[2 * kWidth] += count;
  }
};

// Values are taken relative to their channel's first one: means then are small, and so is what is
// lost of them when pieces are merged.
template <typename T>
__device__ __forceinline__ float origin(const T* x, int c) {
  return widen(x[c]);
}

// partials: means [tiling.partials, channels], then the sums of squared deviations.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kColumnThreads)
    moments_kernel(const T* x, float* partials, ColumnTiling tiling) {
  const ColumnPlace place = column_place<kWidth>(tiling);
  float origins[kWidth] = {};
  for_own_channels<kWidth>(tiling, place, [&](int v, int c) { origins[v] = origin(x, c); });
  float moments[2 * kWidth + 1] = {};
  for_own_rows<4>(tiling, place, [&]<int n>(std::int64_t row, Constant<n>) {
    float value[n][kWidth];
#pragma unroll
    for (int r = 0; r < n; ++r) {
      load(x + (row + r * std::int64_t{tiling.lanes}) * tiling.width + place.column, value[r]);
    }
    float mean[kWidth], m2[kWidth];
#pragma unroll
    for (int v = 0; v < kWidth; ++v) {
      mean[v] = 0.0f;
      m2[v] = 0.0f;
#pragma unroll
      for (int r = 0; r < n; ++r) {
        value[r][v] -= origins[v];
        mean[v] += value[r][v];
      }
      mean[v] *= 1.0f / n;  // exact: n is a power of two
#pragma unroll
      for (int r = 0; r < n; ++r) m2[v] += (value[r][v] - mean[v]) * (value[r][v] - mean[v]);
    }
    float& count = moments[2 * kWidth];
    merge_moments<kWidth>(moments, moments + kWidth, count, mean, m2, n);
    count += n;
  });
  combine_lanes(tiling.lanes, place.lane, tiling.block_groups, moments, MergeMoments<kWidth>{});
  if (!place.active || place.lane != 0) return;
  float* mean = partials + std::int64_t{place.split} * tiling.width + place.column;
  float* m2 = mean + tiling.partials * tiling.channels;
#pragma unroll
  for (int v = 0; v < kWidth; ++v) {
    mean[v] = moments[v];
    m2[v] = moments[kWidth + v];
  }
}

template <typename T>
__global__ void __launch_bounds__(kColumnThreads)
    finish_moments_kernel(const float* partials, const T* x, ColumnTiling tiling, float* mean,
                          float* variance) {
  const FinishPlace place = finish_place(tiling.channels);
  float moments[3] = {};
  float start = 0.0f;
  if (place.active) {
    start = origin(x, place.channel);
    const float* m2 = partials + tiling.partials * tiling.channels;
    for (std::int64_t p = place.lane; p < tiling.partials; p += place.lanes) {
      const std::int64_t first =
          static_cast<unsigned>(p) / static_cast<unsigned>(tiling.join) * tiling.block_rows;
      const std::int64_t rows = std::min(tiling.block_rows, tiling.wide_rows - first);
      const std::int64_t i = p * tiling.channels + place.channel;
      MergeMoments<1>{}(moments, {partials[i], m2[i], static_cast<float>(rows)});
    }
    for (std::int64_t row = tiling.wide_rows * tiling.join + place.lane; row < tiling.rows;
         row += place.lanes) {
      const float value = widen(x[row * tiling.channels + place.channel]) - start;
      MergeMoments<1>{}(moments, {value, 0.0f, 1.0f});
    }
  }
  combine_lanes(place.lanes, place.lane, place.block_channels, moments, MergeMoments<1>{});
  if (!place.active || place.lane != 0) return;
  mean[place.channel] = start + moments[0];
  variance[place.channel] = moments[1] / moments[2];
}

// ---- y
template <typename T, int kWidth>
__global__ void __launch_bounds__(kColumnThreads)
    normalise_kernel(const T* x, ChannelArrays arrays, T* y, ColumnTiling tiling) {
  const ColumnPlace place = column_place<kWidth>(tiling);
  Channel channels[kWidth] = {};
  for_own_channels<kWidth>(tiling, place,
                           [&](int v, int c) { channels[v] = channel_of(arrays, c); });
  const auto output = [&](float value, int v) {
    return activate(channels[v].output(value), arrays.activation);
  };
  for_own_rows<4>(tiling, place, [&]<int n>(std::int64_t row, Constant<n>) {
    const std::int64_t step = std::int64_t{tiling.lanes} * tiling.width;
    const std::int64_t begin = row * tiling.width + place.column;
    const std::int64_t count = tiling.rows * tiling.channels;
    if (begin + (n - 1) * step + kWidth <= count) {
      float value[n][kWidth];
#pragma unroll
      for (int r = 0; r < n; ++r) load(x + begin + r * step, value[r]);
#pragma unroll
      for (int r = 0; r < n; ++r) {
#pragma unroll
        for (int v = 0; v < kWidth; ++v) value[r][v] = output(value[r][v], v);
        store(y + begin + r * step, value[r]);
      }
      return;
    }
#pragma unroll 1
    for (int r = 0; r < n; ++r) {  // the last wide row is not whole
#pragma unroll
      for (int v = 0; v < kWidth; ++v) {
        const std::int64_t i = begin + r * step + v;
        if (i < count) y[i] = narrow<T>(output(widen(x[i]), v));
      }
    }
  });
}

template <typename T>
void launch_normalise(const Tensor& x, const ChannelArrays& arrays, const Tensor& y,
                      Stream stream) {
  constexpr int kWidth = kVectorWidth<T>;
  const bool vectors = vectors_allowed<kWidth>(x.as<T>(), y.as<T>());
  const std::int64_t channels = x.shape.back();
  const ColumnTiling tiling =
      tile_columns(x.count() / channels, channels, vectors ? kWidth : 1, kStream);
  launch(vectors ? normalise_kernel<T, kWidth> : normalise_kernel<T, 1>, tiling.grid(),
         kColumnBlock, 0, stream, x.as<T>(), arrays, y.as<T>(), tiling);
}

struct RunningArrays {
  const float *batch_mean, *batch_variance;
  float momentum;
  int times;
  const OptimizerState* state;
  float *mean, *variance;
  std::int64_t count;
};

__global__ void update_running_kernel(RunningArrays a) {
  const std::int64_t i = global_index();
  if (i >= a.count || (a.state != nullptr && a.state->nonfinite != 0)) return;
  const float keep = 1.0f - a.momentum;
  float mean = a.mean[i];
  float variance = a.variance[i];
  for (int pass = 0; pass < a.times; ++pass) {
    mean = keep * mean + a.momentum * a.batch_mean[i];
    variance = keep * variance + a.momentum * a.batch_variance[i];
  }
  a.mean[i] = mean;
  a.variance[i] = variance;
}

}  // namespace

std::int64_t batch_norm_scratch(std::int64_t rows, std::int64_t channels) {
  std::int64_t partials = 0;
  for (const int width : {1, kVectorWidth<float>, kVectorWidth<Half>}) {  // any that may be chosen
    partials = std::max(partials, tile_columns(rows, channels, width, kReduce).partials);
  }
  return 2 * channels * (partials + 1);
}

void launch_batch_norm_forward(const BatchNormForward& a, float* scratch, Stream stream) {
  const std::int64_t channels = a.x.shape.back();
  visit_dtype(a.x.dtype, [&]<typename T>(T) {
    constexpr int kWidth = kVectorWidth<T>;
    const T* x = a.x.as<T>();
    const bool vectors = vectors_allowed<kWidth>(x);
    const ColumnTiling tiling =
        tile_columns(a.x.count() / channels, channels, vectors ? kWidth : 1, kReduce);
    if (tiling.splits > 0) {
      launch(vectors ? moments_kernel<T, kWidth> : moments_kernel<T, 1>, tiling.grid(),
             kColumnBlock, 0, stream, x, scratch, tiling);
    }
    launch(finish_moments_kernel<T>, finish_grid(tiling.channels), kColumnBlock, 0, stream, scratch,
           x, tiling, a.mean.as<float>(), a.variance.as<float>());
    const ChannelArrays arrays{a.gamma.as<float>(), a.beta.as<float>(), a.mean.as<float>(),
                               a.variance.as<float>(), a.activation};
    launch_normalise<T>(a.x, arrays, a.y, stream);
  });
}

void launch_update_running(const RunningUpdate& update, Stream stream) {
  const std::int64_t count = update.mean.count();
  const RunningArrays arrays{update.mean.as<float>(),
                             update.variance.as<float>(),
                             update.momentum,
                             update.times,
                             update.state,
                             update.running_mean.as<float>(),
                             update.running_variance.as<float>(),
                             count};
  launch(update_running_kernel, elementwise_grid(count), kElementwiseBlock, 0, stream, arrays);
}

void launch_batch_norm_apply(const BatchNormApply& a, Stream stream) {
  const ChannelArrays arrays{a.gamma.as<float>(), a.beta.as<float>(), a.running_mean.as<float>(),
                             a.running_variance.as<float>(), a.activation};
  visit_dtype(a.x.dtype, [&]<typename T>(T) {
    if (a.x.count() > 0) launch_normalise<T>(a.x, arrays, a.y, stream);
  });
}

}  // namespace acgan::cuda
