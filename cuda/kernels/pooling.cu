#include "cuda/kernels.h"
#include "cuda/tile/fast_divisor.cuh"
#include "cuda/tile/vector_access.cuh"

// Sums over 2x2 windows and their transpose: one block a row of the result, whose threads take its
// pixels' channels several at a time.
namespace acgan::cuda {
namespace {

constexpr unsigned kRowThreads = 128;

struct PoolingRow {
  int height, width;              // of large
  int small_height, small_width;  // half of them, rounded up
  int channels;
  FastDivisor groups;  // of channels that a thread takes at once
};

PoolingRow pooling_row(const Tensor& large, const Tensor& small, int per_thread) {
  const auto extent = [](std::int64_t value) { return static_cast<int>(value); };
  return {.height = extent(large.shape[1]),
          .width = extent(large.shape[2]),
          .small_height = extent(small.shape[1]),
          .small_width = extent(small.shape[2]),
          .channels = extent(large.shape[3]),
          .groups = FastDivisor(extent(large.shape[3]) / per_thread)};
}

template <int kWidth, typename T>
__device__ __forceinline__ void add_pixel(const T* pixel, float (&sum)[kWidth]) {
  float value[kWidth];
  load(pixel, value);
#pragma unroll
  for (int v = 0; v < kWidth; ++v) sum[v] += value[v];
}

template <typename T, int kWidth>
__global__ void __launch_bounds__(kRowThreads)
    pool2_kernel(const T* large, float scale, T* small, PoolingRow row) {
  const std::int64_t n = blockIdx.x / row.small_height;
  const int h = 2 * static_cast<int>(blockIdx.x - n * row.small_height);
  const std::int64_t stride = std::int64_t{row.width} * row.channels;
  const T* upper = large + (n * row.height + h) * stride;
  T* result = small + std::int64_t{blockIdx.x} * row.small_width * row.channels;
  const int count = row.small_width * static_cast<int>(row.groups.divisor);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(kRowThreads)) {
    const int pixel = row.groups.quotient(i);
    const int c = row.groups.remainder(i, pixel) * kWidth;
    const T* left = upper + std::int64_t{2 * pixel} * row.channels + c;
    const bool has_right = 2 * pixel + 1 < row.width, has_lower = h + 1 < row.height;
    float sum[kWidth] = {};
    add_pixel(left, sum);
    if (has_right) add_pixel(left + row.channels, sum);
    if (has_lower) add_pixel(left + stride, sum);
    if (has_lower && has_right) add_pixel(left + stride + row.channels, sum);
#pragma unroll
    for (int v = 0; v < kWidth; ++v) sum[v] *= scale;
    store(result + std::int64_t{pixel} * row.channels + c, sum);
  }
}

template <typename T, int kWidth>
__global__ void __launch_bounds__(kRowThreads)
    unpool2_kernel(const T* small, float scale, T* large, PoolingRow row) {
  const std::int64_t n = blockIdx.x / row.height;
  const int h = static_cast<int>(blockIdx.x - n * row.height);
  const T* source =
      small + (n * row.small_height + h / 2) * std::int64_t{row.small_width} * row.channels;
  T* result = large + std::int64_t{blockIdx.x} * row.width * row.channels;
  const int count = row.width * static_cast<int>(row.groups.divisor);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(kRowThreads)) {
    const int pixel = row.groups.quotient(i);
    const int c = row.groups.remainder(i, pixel) * kWidth;
    float value[kWidth];
    load(source + std::int64_t{pixel / 2} * row.channels + c, value);
#pragma unroll
    for (int v = 0; v < kWidth; ++v) value[v] *= scale;
    store(result + std::int64_t{pixel} * row.channels + c, value);
  }
}

// Calls body(Constant<n>) with the number of channels that a thread can take at once.
template <typename T, typename Body>
void with_width(std::int64_t channels, const T* large, const T* small, const Body& body) {
  constexpr int kWidth = kVectorWidth<T>;
  if (channels % kWidth == 0 && vectors_allowed<kWidth>(large, small)) {
    body(Constant<kWidth>{});
  } else {
    body(Constant<1>{});
  }
}

dim3 rows_of(const Tensor& images) {
  return {static_cast<unsigned>(images.shape[0] * images.shape[1]), 1, 1};
}

}  // namespace

void launch_pool2(const Tensor& large, float scale, const Tensor& small, Stream stream) {
  if (large.count() == 0) return;
  visit_dtype(large.dtype, [&]<typename T>(T) {
    with_width(large.shape[3], large.as<T>(), small.as<T>(), [&]<int kWidth>(Constant<kWidth>) {
      launch(pool2_kernel<T, kWidth>, rows_of(small), dim3{kRowThreads, 1, 1}, 0, stream,
             large.as<T>(), scale, small.as<T>(), pooling_row(large, small, kWidth));
    });
  });
}

void launch_unpool2(const Tensor& small, float scale, const Tensor& large, Stream stream) {
  if (large.count() == 0) return;
  visit_dtype(large.dtype, [&]<typename T>(T) {
    with_width(large.shape[3], large.as<T>(), small.as<T>(), [&]<int kWidth>(Constant<kWidth>) {
      launch(unpool2_kernel<T, kWidth>, rows_of(large), dim3{kRowThreads, 1, 1}, 0, stream,
             small.as<T>(), scale, large.as<T>(), pooling_row(large, small, kWidth));
    });
  });
}

}  // namespace acgan::cuda
