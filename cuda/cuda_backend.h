#pragma once

#include "backend/backend.h"
#include "backend/cuda_module.h"
#include "cuda/convolutions.h"
#include "cuda/device.h"
#include "cuda/library/matrix_product.h"

namespace acgan::cuda {

// All operations on one GPU: checks the arguments and calls launchers (kernels.h), convolutions
// and libraries; holds no kernels.
class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const CudaRequest& request);

  std::string name() const override { return "cuda"; }
  std::string description() const override;
  bool computes_in(DType type) const override;
  std::string convolution_library(DType type) const override {
    return convolutions_->library(type);
  }
  std::string convolution_note(const ConvGeometry& geometry, DType type) const override;

  void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  std::size_t workspace_bytes() const override {
    return scratch_.bytes() + convolutions_->workspace_bytes() + matrices_->workspace_bytes();
  }
  std::size_t free_bytes() const override { return device_->free_bytes(); }
  void upload(const Tensor& destination, const void* host) override;
  void download(void* host, const Tensor& source) override;
  void copy(const Tensor& source, const Tensor& destination) override;
  void zero(const Tensor& destination) override;
  void synchronize() override;

  std::unique_ptr<CapturedWork> capture(std::function<void()> work) override;
  std::unique_ptr<Readback> make_readback(std::vector<Tensor> sources) override;

  void cast(const Tensor& source, const Tensor& destination) override;

  void conv2d_forward(const ConvGeometry& geometry, const Tensor& x, const Tensor& w,
                      const Tensor& bias, Activation activation, const Tensor& y) override;
  void conv2d_backward_data(const ConvGeometry& geometry, const Tensor& dy, const Tensor& w,
                            const Tensor& bias, const Tensor& dx) override;
  void conv2d_backward_weight(const ConvGeometry& geometry, const Tensor& x, const Tensor& dy,
                              const Tensor& dw, Accumulation accumulation) override;

  void dense_forward(const Tensor& x, const Tensor& w, const Tensor& bias,
                     const Tensor& y) override;
  void dense_backward_data(const Tensor& dy, const Tensor& w, const Tensor& dx,
                           Accumulation accumulation) override;
  void dense_backward_weight(const Tensor& x, const Tensor& dy, const Tensor& dw,
                             Accumulation accumulation) override;
  void bias_backward(const Tensor& dy, const Tensor& db, Accumulation accumulation) override;
  void weights_updated(const Tensor&) override {}

  void batch_norm_forward(const BatchNormForward& arguments) override;
  void batch_norm_backward(const BatchNormBackward& arguments) override;
  void batch_norm_update_running(const Tensor& mean, const Tensor& variance, float momentum,
                                 int times, const OptimizerState* state, const Tensor& running_mean,
                                 const Tensor& running_variance) override;
  void batch_norm_apply(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                        const Tensor& running_mean, const Tensor& running_variance,
                        Activation activation, const Tensor& y) override;

  void activation_forward(const Tensor& x, Activation activation, const Tensor& y) override;
  void activation_backward(const Tensor& y, const Tensor& dy, Activation activation,
                           const Tensor& dx) override;
  void sigmoid_forward(const Tensor& x, const Tensor& y) override;
  void sigmoid_backward(const Tensor& y, const Tensor& dy, const Tensor& dx) override;

  void add(const Tensor& a, const Tensor& b, const Tensor& y) override;
  void pool2(const Tensor& large, float scale, const Tensor& small) override;
  void unpool2(const Tensor& small, float scale, const Tensor& large) override;

  void concat_one_hot(const Tensor& z, const Tensor& labels, const Tensor& y) override;
  void random_uniform(const RandomState* state, RandomStream stream,
                      const Tensor& destination) override;
  void advance_random(RandomState* state) override;
  void draw_labels(const RandomState* state, std::int64_t classes,
                   const Tensor& destination) override;

  void flip_images(const RandomState* state, const Tensor& images) override;
  void augment(const AugmentationDraw& draw, const Tensor& x, const Tensor& y) override;
  void augment_backward(const AugmentationDraw& draw, const Tensor& dy, const Tensor& dx) override;

  void bce_with_logits(const Tensor& logits, float target, const LossResult& result) override;
  void hinge_loss(const Tensor& logits, SourceTerm term, const LossResult& result) override;
  void softmax_cross_entropy(const Tensor& logits, const Tensor& labels, const LossResult& result,
                             float* correct) override;

  void flag_nonfinite(const Tensor& gradient, OptimizerState* state) override;
  void adam_step(const AdamUpdate& update) override;
  void ema_step(const EmaUpdate& update) override;
  void spectral_normalize(const SpectralNormalization& arguments) override;
  void spectral_norm_backward(const SpectralWeight& weight, const Tensor& gradient) override;
  void finish_step(OptimizerState* state, const AdamConstants& constants,
                   const LossScalePolicy& policy, const LearningRateSchedule& schedule) override;

  void gather_images(const Tensor& images, const Tensor& indices, float divisor,
                     const Tensor& destination) override;
  void gather_labels(const Tensor& labels, const Tensor& indices,
                     const Tensor& destination) override;

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<MatrixLibrary> matrices_;
  Scratch scratch_;
  std::unique_ptr<Convolutions> convolutions_;
  bool allow_tf32_;
};

}  // namespace acgan::cuda
