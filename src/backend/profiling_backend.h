#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace acgan {

// What one operation on one shape added up to.
struct OperationTotals {
  std::string operation;  // "conv2d_forward", "adam_step x2"
  std::string layer;      // as name_memory() was told; empty: nothing was
  DType dtype = DType::F32;
  Shape shape;  // of the tensor that tells one use from another
  std::int64_t calls = 0;
  double seconds = 0.0;
  double flops = 0.0;  // of convolutions and dense layers
  double bytes = 0.0;
};

// What the operations of one part of a step added up to.
struct PhaseTotals {
  double seconds = 0.0, flops = 0.0, bytes = 0.0;
};
using PhaseProfile = std::array<PhaseTotals, kStepPhases>;  // by StepPhase

// Says where a step's time goes: forwards every operation to another backend and sums, for each
// operation and shape, calls, wall time until the device is done, arithmetic and memory traffic.
// Waiting after each operation costs overlap on an asynchronous device: shares hold, the sum is an
// upper bound.
class ProfilingBackend final : public Backend {
 public:
  explicit ProfilingBackend(std::unique_ptr<Backend> backend);

  // A table, one line for an operation and shape, the largest share of the time first. GFLOP/s for
  // convolutions and dense layers (multiply and add counted apart, padding included); GB/s counts
  // every array of the call once, and twice what is added to.
  std::string report() const;
  std::vector<OperationTotals> operations() const { return totals_; }  // by first call
  const PhaseProfile& phases() const { return phases_; }
  void reset();  // forgets what was measured, for example while warming up
  // What lies in this memory belongs to that layer: operations on it are summed apart and named.
  // Of several named places that hold a tensor the smallest counts.
  void name_memory(const Tensor& memory, const std::string& layer);

  std::string name() const override { return backend_->name(); }
  std::string description() const override { return backend_->description(); }
  bool computes_in(DType type) const override { return backend_->computes_in(type); }
  std::string convolution_library(DType type) const override {
    return backend_->convolution_library(type);
  }
  std::string convolution_note(const ConvGeometry& geometry, DType type) const override {
    return backend_->convolution_note(geometry, type);
  }

  void* allocate(std::size_t bytes) override { return backend_->allocate(bytes); }
  void release(void* memory) noexcept override { backend_->release(memory); }
  std::size_t workspace_bytes() const override { return backend_->workspace_bytes(); }
  std::size_t free_bytes() const override { return backend_->free_bytes(); }
  void upload(const Tensor& destination, const void* host) override;
  void download(void* host, const Tensor& source) override;
  void copy(const Tensor& source, const Tensor& destination) override;
  void zero(const Tensor& destination) override;
  void synchronize() override { backend_->synchronize(); }

  void begin_phase(StepPhase phase) override { phase_ = phase; }
  // Work that is captured is measured operation by operation whenever it runs.
  std::unique_ptr<CapturedWork> capture(std::function<void()> work) override;
  std::unique_ptr<Readback> make_readback(std::vector<Tensor> sources) override {
    return backend_->make_readback(std::move(sources));
  }

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
  void weights_updated(const Tensor& w) override;

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
  struct Work {
    double flops = 0.0;
    double bytes = 0.0;
  };
  // What tells one use of an operation from another: a dtype and shape, and whose it is.
  struct Use {
    Tensor shaped = {};
    Tensor owner = {};  // lies in the memory of the layer
  };
  struct NamedMemory {
    const std::byte* begin;
    std::size_t bytes;
    std::string layer;
  };

  template <typename Call>
  void measure(std::string_view operation, const Use& use, const Work& work, Call&& call);
  OperationTotals& totals_of(std::string_view operation, const Use& use);
  std::string layer_at(const Tensor& memory) const;
  void inherit_layer(const Tensor& from, const Tensor& to);

  std::unique_ptr<Backend> backend_;
  std::vector<OperationTotals> totals_;
  PhaseProfile phases_;
  StepPhase phase_ = StepPhase::Data;
  std::map<std::string, std::size_t> places_;  // in totals_, by operation, dtype, shape and layer
  std::vector<NamedMemory> names_;
};

}  // namespace acgan
