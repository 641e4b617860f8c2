#pragma once

#include "backend/cpu/packed_gemm.h"
#include "backend/host/host_backend.h"

namespace acgan {

// All operations in vectorised OpenMP loops; convolutions and dense layers are one blocked matrix
// product (packed_gemm.h) that widens 16-bit storage while it packs and rounds while it stores.
// What is not heavy is inherited from the reference. Same threads, same bits.
class CpuBackend : public HostBackend {
 public:
  explicit CpuBackend(int threads);  // 0: all that the process may use

  std::string name() const override { return "cpu"; }
  std::string description() const override;
  bool computes_in(DType type) const override { return type == DType::F32; }

  // Large arrays lie on huge pages (matrix products 0 to 8 % faster on a Zen 3, Adam the same) and
  // are zeroed by all threads.
  void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  std::size_t workspace_bytes() const override {
    return gemm_.workspace_bytes() + thin_scratch_.bytes();
  }

  // cpu_convolution.cpp
  void conv2d_forward(const ConvGeometry& geometry, const Tensor& x, const Tensor& w,
                      const Tensor& bias, Activation activation, const Tensor& y) override;
  void conv2d_backward_data(const ConvGeometry& geometry, const Tensor& dy, const Tensor& w,
                            const Tensor& bias, const Tensor& dx) override;
  void conv2d_backward_weight(const ConvGeometry& geometry, const Tensor& x, const Tensor& dy,
                              const Tensor& dw, Accumulation accumulation) override;

  // cpu_dense.cpp
  void dense_forward(const Tensor& x, const Tensor& w, const Tensor& bias,
                     const Tensor& y) override;
  void dense_backward_data(const Tensor& dy, const Tensor& w, const Tensor& dx,
                           Accumulation accumulation) override;
  void dense_backward_weight(const Tensor& x, const Tensor& dy, const Tensor& dw,
                             Accumulation accumulation) override;

  // cpu_batch_norm.cpp
  void batch_norm_forward(const BatchNormForward& arguments) override;
  void batch_norm_backward(const BatchNormBackward& arguments) override;
  void batch_norm_apply(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                        const Tensor& running_mean, const Tensor& running_variance,
                        Activation activation, const Tensor& y) override;

  // cpu_elementwise.cpp
  void copy(const Tensor& source, const Tensor& destination) override;
  void zero(const Tensor& destination) override;
  void cast(const Tensor& source, const Tensor& destination) override;
  void bias_backward(const Tensor& dy, const Tensor& db, Accumulation accumulation) override;
  void activation_forward(const Tensor& x, Activation activation, const Tensor& y) override;
  void activation_backward(const Tensor& y, const Tensor& dy, Activation activation,
                           const Tensor& dx) override;
  void sigmoid_forward(const Tensor& x, const Tensor& y) override;
  void sigmoid_backward(const Tensor& y, const Tensor& dy, const Tensor& dx) override;
  void add(const Tensor& a, const Tensor& b, const Tensor& y) override;
  void gather_images(const Tensor& images, const Tensor& indices, float divisor,
                     const Tensor& destination) override;

  // cpu_pooling.cpp
  void pool2(const Tensor& large, float scale, const Tensor& small) override;
  void unpool2(const Tensor& small, float scale, const Tensor& large) override;

  // cpu_optimizer.cpp
  void flag_nonfinite(const Tensor& gradient, OptimizerState* state) override;
  void adam_step(const AdamUpdate& update) override;
  void ema_step(const EmaUpdate& update) override;

  // cpu_spectral_norm.cpp
  void spectral_normalize(const SpectralNormalization& arguments) override;
  void spectral_norm_backward(const SpectralWeight& weight, const Tensor& gradient) override;

 protected:
  int threads() const { return threads_; }

 private:
  void backward_data_by_patches(const ConvGeometry& geometry, const Tensor& dy, const Tensor& w,
                                const Tensor& bias, const Tensor& dx);

  int threads_;
  PackedGemm gemm_;
  ScratchMemory thin_scratch_;  // of convolutions with few input channels
};

}  // namespace acgan
