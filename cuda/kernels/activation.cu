#include <cmath>

#include "cuda/kernels.h"
#include "cuda/tile/activation.cuh"
#include "cuda/tile/vector_access.cuh"

namespace acgan::cuda {
namespace {

template <typename T, int kWidth>
__global__ void activation_forward_kernel(const T* x, Activation activation, T* y,
                                          std::int64_t count) {
  for_own_elements<kWidth>(count, [&]<int n>(std::int64_t i, Constant<n>) {
    float value[n];
    load(x + i, value);
#pragma unroll
    for (int v = 0; v < n; ++v) value[v] = activate(value[v], activation);
    store(y + i, value);
  });
}

template <typename T, int kWidth>
__global__ void activation_backward_kernel(const T* y, const T* dy, Activation activation, T* dx,
                                           std::int64_t count) {
  const float below = slope_below(activation);
  for_own_elements<kWidth>(count, [&]<int n>(std::int64_t i, Constant<n>) {
    float output[n], gradient[n];
    load(y + i, output);
    load(dy + i, gradient);
#pragma unroll
    for (int v = 0; v < n; ++v) gradient[v] *= output[v] > 0.0f ? 1.0f : below;
    store(dx + i, gradient);
  });
}

template <typename T, int kWidth>
__global__ void sigmoid_forward_kernel(const T* x, T* y, std::int64_t count) {
  for_own_elements<kWidth>(count, [&]<int n>(std::int64_t i, Constant<n>) {
    float value[n];
    load(x + i, value);
#pragma unroll
    for (int v = 0; v < n; ++v) value[v] = 1.0f / (1.0f + std::exp(-value[v]));
    store(y + i, value);
  });
}

template <typename T, int kWidth>
__global__ void sigmoid_backward_kernel(const T* y, const T* dy, T* dx, std::int64_t count) {
  for_own_elements<kWidth>(count, [&]<int n>(std::int64_t i, Constant<n>) {
    float output[n], gradient[n];
    load(y + i, output);
    load(dy + i, gradient);
#pragma unroll
    for (int v = 0; v < n; ++v) gradient[v] *= output[v] * (1.0f - output[v]);
    store(dx + i, gradient);
  });
}

template <typename T, int kWidth>
__global__ void add_kernel(const T* a, const T* b, T* y, std::int64_t count) {
  for_own_elements<kWidth>(count, [&]<int n>(std::int64_t i, Constant<n>) {
    float sum[n], other[n];
    load(a + i, sum);
    load(b + i, other);
#pragma unroll
    for (int v = 0; v < n; ++v) sum[v] += other[v];
    store(y + i, sum);
  });
}

}  // namespace

void launch_activation_forward(const Tensor& x, Activation activation, const Tensor& y,
                               Stream stream) {
  const std::int64_t count = x.count();
  if (count == 0) return;
  visit_dtype(x.dtype, [&]<typename T>(T) {
    constexpr int kWidth = kVectorWidth<T>;
    const bool vectors = vectors_allowed<kWidth>(x.as<T>(), y.as<T>());
    launch(vectors ? activation_forward_kernel<T, kWidth> : activation_forward_kernel<T, 1>,
           elementwise_grid(count, vectors ? kWidth : 1), kElementwiseBlock, 0, stream, x.as<T>(),
           activation, y.as<T>(), count);
  });
}

void launch_activation_backward(const Tensor& y, const Tensor& dy, Activation activation,
                                const Tensor& dx, Stream stream) {
  const std::int64_t count = y.count();
  if (count == 0) return;
  visit_dtype(y.dtype, [&]<typename T>(T) {
    constexpr int kWidth = kVectorWidth<T>;
    const bool vectors = vectors_allowed<kWidth>(y.as<T>(), dy.as<T>(), dx.as<T>());
    launch(vectors ? activation_backward_kernel<T, kWidth> : activation_backward_kernel<T, 1>,
           elementwise_grid(count, vectors ? kWidth : 1), kElementwiseBlock, 0, stream, y.as<T>(),
           dy.as<T>(), activation, dx.as<T>(), count);
  });
}

void launch_sigmoid_forward(const Tensor& x, const Tensor& y, Stream stream) {
  const std::int64_t count = x.count();
  if (count == 0) return;
  visit_dtype(x.dtype, [&]<typename T>(T) {
    constexpr int kWidth = kVectorWidth<T>;
    const bool vectors = vectors_allowed<kWidth>(x.as<T>(), y.as<T>());
    launch(vectors ? sigmoid_forward_kernel<T, kWidth> : sigmoid_forward_kernel<T, 1>,
           elementwise_grid(count, vectors ? kWidth : 1), kElementwiseBlock, 0, stream, x.as<T>(),
           y.as<T>(), count);
  });
}

void launch_sigmoid_backward(const Tensor& y, const Tensor& dy, const Tensor& dx, Stream stream) {
  const std::int64_t count = y.count();
  if (count == 0) return;
  visit_dtype(y.dtype, [&]<typename T>(T) {
    constexpr int kWidth = kVectorWidth<T>;
    const bool vectors = vectors_allowed<kWidth>(y.as<T>(), dy.as<T>(), dx.as<T>());
    launch(vectors ? sigmoid_backward_kernel<T, kWidth> : sigmoid_backward_kernel<T, 1>,
           elementwise_grid(count, vectors ? kWidth : 1), kElementwiseBlock, 0, stream, y.as<T>(),
           dy.as<T>(), dx.as<T>(), count);
  });
}

void launch_add(const Tensor& a, const Tensor& b, const Tensor& y, Stream stream) {
  const std::int64_t count = y.count();
  if (count == 0) return;
  visit_dtype(y.dtype, [&]<typename T>(T) {
    constexpr int kWidth = kVectorWidth<T>;
    const bool vectors = vectors_allowed<kWidth>(a.as<T>(), b.as<T>(), y.as<T>());
    launch(vectors ? add_kernel<T, kWidth> : add_kernel<T, 1>,
           elementwise_grid(count, vectors ? kWidth : 1), kElementwiseBlock, 0, stream, a.as<T>(),
           b.as<T>(), y.as<T>(), count);
  });
}

}  // namespace acgan::cuda
