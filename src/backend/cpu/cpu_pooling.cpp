#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/parallel.h"
#include "backend/pooling.h"

namespace acgan {
namespace {

// One row of windows: `upper` and `lower` are rows of large [W,C], the lower one null where the
// image has ended. Pixels of one window are added in reading order.
template <typename T>
void pool_row(const T* upper, const T* lower, std::int64_t width, std::int64_t channels,
              float scale, T* small) {
  for (std::int64_t w = 0; w < width; w += 2) {
    const bool has_right = w + 1 < width;
    cpu::for_each_vector(0, channels, [&](std::int64_t c, auto lanes) {
      const auto at = [&](const T* row, std::int64_t column) {
        return cpu::load(row + column * channels + c, lanes);
      };
      cpu::Float8 sum = at(upper, w);
      if (has_right) sum += at(upper, w + 1);
      if (lower != nullptr) sum += at(lower, w);
      if (lower != nullptr && has_right) sum += at(lower, w + 1);
      cpu::store(small + w / 2 * channels + c, scale * sum, lanes);
    });
  }
}

template <typename T>
void unpool_row(const T* small, std::int64_t width, std::int64_t channels, float scale, T* large) {
  for (std::int64_t w = 0; w < width; ++w) {
    cpu::for_each_vector(0, channels, [&](std::int64_t c, auto lanes) {
      cpu::store(large + w * channels + c, scale * cpu::load(small + w / 2 * channels + c, lanes),
                 lanes);
    });
  }
}

}  // namespace

void CpuBackend::pool2(const Tensor& large, float scale, const Tensor& small) {
  check_pooling(large, small);
  const std::int64_t height = large.shape[1], width = large.shape[2], channels = large.shape[3];
  const std::int64_t rows = small.shape[1], large_row = width * channels;
  visit_dtype(large.dtype, [&]<typename T>(T) {
    const T* source = large.as<T>();
    T* result = small.as<T>();
    cpu::for_each_task(threads(), small.shape[0] * rows, large.count(), [&](std::int64_t task) {
      const std::int64_t n = task / rows, h = task % rows * 2;
      const T* upper = source + (n * height + h) * large_row;
      pool_row(upper, h + 1 < height ? upper + large_row : nullptr, width, channels, scale,
               result + task * small.shape[2] * channels);
    });
  });
}

void CpuBackend::unpool2(const Tensor& small, float scale, const Tensor& large) {
  check_pooling(large, small);
  const std::int64_t height = large.shape[1], width = large.shape[2], channels = large.shape[3];
  const std::int64_t small_row = small.shape[2] * channels;
  visit_dtype(large.dtype, [&]<typename T>(T) {
    const T* source = small.as<T>();
    T* result = large.as<T>();
    cpu::for_each_task(threads(), large.shape[0] * height, large.count(), [&](std::int64_t task) {
      const std::int64_t n = task / height, h = task % height;
      unpool_row(source + (n * small.shape[1] + h / 2) * small_row, width, channels, scale,
                 result + task * width * channels);
    });
  });
}

}  // namespace acgan
