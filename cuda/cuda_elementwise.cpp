#include "backend/pooling.h"
#include "cuda/cuda_backend.h"
#include "cuda/kernels.h"

namespace acgan::cuda {

void CudaBackend::activation_forward(const Tensor& x, Activation activation, const Tensor& y) {
  ACGAN_CHECK(x.shape == y.shape && x.dtype == y.dtype);
  launch_activation_forward(x, activation, y, device_->stream());
}

void CudaBackend::activation_backward(const Tensor& y, const Tensor& dy, Activation activation,
                                      const Tensor& dx) {
  ACGAN_CHECK(y.shape == dy.shape && y.shape == dx.shape);
  ACGAN_CHECK(y.dtype == dy.dtype && y.dtype == dx.dtype);
  launch_activation_backward(y, dy, activation, dx, device_->stream());
}

void CudaBackend::sigmoid_forward(const Tensor& x, const Tensor& y) {
  ACGAN_CHECK(x.shape == y.shape && x.dtype == y.dtype);
  launch_sigmoid_forward(x, y, device_->stream());
}

void CudaBackend::sigmoid_backward(const Tensor& y, const Tensor& dy, const Tensor& dx) {
  ACGAN_CHECK(y.shape == dy.shape && y.shape == dx.shape);
  ACGAN_CHECK(y.dtype == dy.dtype && y.dtype == dx.dtype);
  launch_sigmoid_backward(y, dy, dx, device_->stream());
}

void CudaBackend::add(const Tensor& a, const Tensor& b, const Tensor& y) {
  ACGAN_CHECK(a.shape == b.shape && a.shape == y.shape);
  ACGAN_CHECK(a.dtype == b.dtype && a.dtype == y.dtype);
  launch_add(a, b, y, device_->stream());
}

void CudaBackend::pool2(const Tensor& large, float scale, const Tensor& small) {
  check_pooling(large, small);
  launch_pool2(large, scale, small, device_->stream());
}

void CudaBackend::unpool2(const Tensor& small, float scale, const Tensor& large) {
  check_pooling(large, small);
  launch_unpool2(small, scale, large, device_->stream());
}

}  // namespace acgan::cuda
