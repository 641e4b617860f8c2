#pragma once

#include <limits>
#include <memory>
#include <string>

#include "backend/backend.h"

namespace acgan {

// Carries out nothing: its memory has addresses, so that views of it can be told apart, but no
// content; whoever touches it crashes. Behind a ProfilingBackend it says what a step asks for, at
// any batch size, without a device, the memory or the time.
class BlankBackend final : public Backend {
 public:
  std::string name() const override { return "blank"; }
  std::string description() const override { return "no device: nothing is computed"; }
  bool computes_in(DType) const override { return false; }

  void* allocate(std::size_t bytes) override;
  void release(void*) noexcept override {}
  std::size_t workspace_bytes() const override { return 0; }
  std::size_t free_bytes() const override { return std::numeric_limits<std::size_t>::max(); }
  void download(void* host, const Tensor& source) override;  // zeros
  std::unique_ptr<CapturedWork> capture(std::function<void()> work) override;
  std::unique_ptr<Readback> make_readback(std::vector<Tensor> sources) override;

  void upload(const Tensor&, const void*) override {}
  void copy(const Tensor&, const Tensor&) override {}
  void zero(const Tensor&) override {}
  void synchronize() override {}
  void cast(const Tensor&, const Tensor&) override {}
  void conv2d_forward(const ConvGeometry&, const Tensor&, const Tensor&, const Tensor&, Activation,
                      const Tensor&) override {}
  void conv2d_backward_data(const ConvGeometry&, const Tensor&, const Tensor&, const Tensor&,
                            const Tensor&) override {}
  void conv2d_backward_weight(const ConvGeometry&, const Tensor&, const Tensor&, const Tensor&,
                              Accumulation) override {}
  void dense_forward(const Tensor&, const Tensor&, const Tensor&, const Tensor&) override {}
  void dense_backward_data(const Tensor&, const Tensor&, const Tensor&, Accumulation) override {}
  void dense_backward_weight(const Tensor&, const Tensor&, const Tensor&, Accumulation) override {}
  void bias_backward(const Tensor&, const Tensor&, Accumulation) override {}
  void weights_updated(const Tensor&) override {}
  void batch_norm_forward(const BatchNormForward&) override {}
  void batch_norm_backward(const BatchNormBackward&) override {}
  void batch_norm_update_running(const Tensor&, const Tensor&, float, int, const OptimizerState*,
                                 const Tensor&, const Tensor&) override {}
  void batch_norm_apply(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                        Activation, const Tensor&) override {}
  void activation_forward(const Tensor&, Activation, const Tensor&) override {}
  void activation_backward(const Tensor&, const Tensor&, Activation, const Tensor&) override {}
  void sigmoid_forward(const Tensor&, const Tensor&) override {}
  void sigmoid_backward(const Tensor&, const Tensor&, const Tensor&) override {}
  void add(const Tensor&, const Tensor&, const Tensor&) override {}
  void pool2(const Tensor&, float, const Tensor&) override {}
  void unpool2(const Tensor&, float, const Tensor&) override {}
  void concat_one_hot(const Tensor&, const Tensor&, const Tensor&) override {}
  void random_uniform(const RandomState*, RandomStream, const Tensor&) override {}
  void advance_random(RandomState*) override {}
  void draw_labels(const RandomState*, std::int64_t, const Tensor&) override {}
  void flip_images(const RandomState*, const Tensor&) override {}
  void augment(const AugmentationDraw&, const Tensor&, const Tensor&) override {}
  void augment_backward(const AugmentationDraw&, const Tensor&, const Tensor&) override {}
  void bce_with_logits(const Tensor&, float, const LossResult&) override {}
  void hinge_loss(const Tensor&, SourceTerm, const LossResult&) override {}
  void softmax_cross_entropy(const Tensor&, const Tensor&, const LossResult&, float*) override {}
  void flag_nonfinite(const Tensor&, OptimizerState*) override {}
  void adam_step(const AdamUpdate&) override {}
  void ema_step(const EmaUpdate&) override {}
  void spectral_normalize(const SpectralNormalization&) override {}
  void spectral_norm_backward(const SpectralWeight&, const Tensor&) override {}
  void finish_step(OptimizerState*, const AdamConstants&, const LossScalePolicy&,
                   const LearningRateSchedule&) override {}
  void gather_images(const Tensor&, const Tensor&, float, const Tensor&) override {}
  void gather_labels(const Tensor&, const Tensor&, const Tensor&) override {}

 private:
  std::size_t handed_out_ = 0;  // bytes
};

}  // namespace acgan
