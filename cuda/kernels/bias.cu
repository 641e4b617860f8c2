#include "cuda/kernels.h"
#include "cuda/tile/activation.cuh"
#include "cuda/tile/columns.cuh"

namespace acgan::cuda {
namespace {

template <typename Bias, typename T, int kWidth>
__global__ void __launch_bounds__(kColumnThreads)
    fill_rows_kernel(const Bias* bias, T* y, ColumnTiling tiling) {
  const ColumnPlace place = column_place<kWidth>(tiling);
  float value[kWidth] = {};
  for_own_channels<kWidth>(tiling, place, [&](int v, int c) {
    if (bias != nullptr) value[v] = widen(bias[c]);
  });
  for_own_rows<1>(tiling, place, [&](std::int64_t row, auto) {
    for_row_elements<kWidth>(tiling, place, row, [&]<int n>(std::int64_t i, int v, Constant<n>) {
      float part[n];
#pragma unroll
      for (int e = 0; e < n; ++e) part[e] = value[v + e];
      store(y + i, part);
    });
  });
}

template <typename Bias, typename T>
void launch_fill(const Bias* bias, T* y, std::int64_t rows, std::int64_t channels, Stream stream) {
  constexpr int kWidth = kVectorWidth<T>;
  const bool vectors = vectors_allowed<kWidth>(y);
  const ColumnTiling tiling = tile_columns(rows, channels, vectors ? kWidth : 1, kStream);
  launch(vectors ? fill_rows_kernel<Bias, T, kWidth> : fill_rows_kernel<Bias, T, 1>, tiling.grid(),
         kColumnBlock, 0, stream, bias, y, tiling);
}

template <typename T, int kWidth>
__global__ void __launch_bounds__(kColumnThreads, 4)  // without the 4 it spills on sm_86
    bias_activation_kernel(const T* bias, Activation activation, T* y, ColumnTiling tiling) {
  const ColumnPlace place = column_place<kWidth>(tiling);
  float value[kWidth] = {};
  for_own_channels<kWidth>(tiling, place, [&](int v, int c) {
    if (bias != nullptr) value[v] = widen(bias[c]);
  });
  const float below = slope_below(activation);
  // Relu apart: zero times infinity would be NaN.
  const auto activated = [&](float sum) {
    return sum < 0.0f ? (below == 0.0f ? 0.0f : sum * below) : sum;
  };
  for_own_rows<1>(tiling, place, [&](std::int64_t row, auto) {
    for_row_elements<kWidth>(tiling, place, row, [&]<int n>(std::int64_t i, int v, Constant<n>) {
      float part[n];
      load(y + i, part);
#pragma unroll
      for (int e = 0; e < n; ++e) part[e] = activated(part[e] + value[v + e]);
      store(y + i, part);
    });
  });
}

// partials [tiling.partials, channels]: sums over the whole wide rows.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kColumnThreads)
    column_sums_kernel(const T* dy, float* partials, ColumnTiling tiling) {
  const ColumnPlace place = column_place<kWidth>(tiling);
  float sum[kWidth] = {};
  for_own_rows<4>(tiling, place, [&]<int n>(std::int64_t row, Constant<n>) {
    float value[n][kWidth];
#pragma unroll
    for (int r = 0; r < n; ++r) {
      load(dy + (row + r * std::int64_t{tiling.lanes}) * tiling.width + place.column, value[r]);
    }
#pragma unroll
    for (int v = 0; v < kWidth; ++v) {
      float part = value[0][v];
#pragma unroll
      for (int r = 1; r < n; ++r) part += value[r][v];
      sum[v] += part;
    }
  });
  combine_lanes(tiling.lanes, place.lane, tiling.block_groups, sum, AddValues{});
  if (!place.active || place.lane != 0) return;
#pragma unroll
  for (int v = 0; v < kWidth; ++v) {
    partials[std::int64_t{place.split} * tiling.width + place.column + v] = sum[v];
  }
}

// Adds up the partial sums and the rows that did not fill a wide one.
template <typename T>
__global__ void __launch_bounds__(kColumnThreads)
    finish_sums_kernel(const float* partials, const T* dy, ColumnTiling tiling, float* db,
                       Accumulation accumulation) {
  const FinishPlace place = finish_place(tiling.channels);
  float sum[1] = {};
  if (place.active) {
    for (std::int64_t p = place.lane; p < tiling.partials; p += place.lanes) {
      sum[0] += partials[p * tiling.channels + place.channel];
    }
    for (std::int64_t row = tiling.wide_rows * tiling.join + place.lane; row < tiling.rows;
         row += place.lanes) {
      sum[0] += widen(dy[row * tiling.channels + place.channel]);
    }
  }
  combine_lanes(place.lanes, place.lane, place.block_channels, sum, AddValues{});
  if (place.active && place.lane == 0) write_sum(db + place.channel, sum[0], accumulation);
}

}  // namespace

void launch_fill_rows(const Tensor& bias, const Tensor& y, Stream stream) {
  if (y.count() == 0) return;
  const std::int64_t channels = y.shape.back();
  visit_dtype(bias ? bias.dtype : y.dtype, [&]<typename Bias>(Bias) {
    visit_dtype(y.dtype, [&]<typename T>(T) {
      launch_fill(static_cast<const Bias*>(bias.data), y.as<T>(), y.count() / channels, channels,
                  stream);
    });
  });
}

void launch_bias_activation(const Tensor& bias, Activation activation, const Tensor& y,
                            Stream stream) {
  if (y.count() == 0) return;
  const std::int64_t channels = y.shape.back();
  visit_dtype(y.dtype, [&]<typename T>(T) {
    constexpr int kWidth = kVectorWidth<T>;
    const bool vectors = vectors_allowed<kWidth>(y.as<T>());
    const ColumnTiling tiling =
        tile_columns(y.count() / channels, channels, vectors ? kWidth : 1, kStream);
    launch(vectors ? bias_activation_kernel<T, kWidth> : bias_activation_kernel<T, 1>,
           tiling.grid(), kColumnBlock, 0, stream, bias ? bias.as<T>() : nullptr, activation,
           y.as<T>(), tiling);
  });
}

std::int64_t column_sum_splits(std::int64_t rows) {
  return std::clamp<std::int64_t>(rows, 1, kMaximumPartials);
}

void launch_bias_backward(const Tensor& dy, const Tensor& db, Accumulation accumulation,
                          float* partials, Stream stream) {
  const std::int64_t channels = db.count();
  if (channels == 0) return;
  const std::int64_t rows = dy.count() / channels;
  visit_dtype(dy.dtype, [&]<typename T>(T) {
    constexpr int kWidth = kVectorWidth<T>;
    const bool vectors = vectors_allowed<kWidth>(dy.as<T>());
    const ColumnTiling tiling = tile_columns(rows, channels, vectors ? kWidth : 1, kReduce);
    if (tiling.splits > 0) {
      launch(vectors ? column_sums_kernel<T, kWidth> : column_sums_kernel<T, 1>, tiling.grid(),
             kColumnBlock, 0, stream, dy.as<T>(), partials, tiling);
    }
    launch(finish_sums_kernel<T>, finish_grid(tiling.channels), kColumnBlock, 0, stream, partials,
           dy.as<T>(), tiling, db.as<float>(), accumulation);
  });
}

}  // namespace acgan::cuda
