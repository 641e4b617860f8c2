#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "model/acgan.h"
#include "optim/adam.h"
#include "train/generator_average.h"

namespace acgan {

struct TrainStepOptions {
  AcganShape shape;
  DType compute = DType::F32;
  Objective objective = Objective::Dgq;
  std::int64_t batch = 64;
  AdamOptions d, g, q;
  std::uint64_t seed = 1;
  float image_divisor = 255.0f;  // pixel / divisor enters the discriminator
  EmaOptions ema = {};
  SourceLoss loss = SourceLoss::Bce;
  float label_smoothing = 0.0f;  // of bce; the target of real images is 1 minus this, for D only
  LabelSampling label_sampling = LabelSampling::Data;
  std::int64_t d_steps = 1;         // updates of D in a step
  bool classify_fakes_in_d = true;  // the classes of fakes teach trunk and classifier too
  bool flip = false;                // half of the real images are mirrored
  Augmentation augment = {};        // of what the discriminator sees
};

// Means over the batch of one step's losses, and the classifier's hit rates; lies in backend memory
// as floats.
struct StepMetrics {
  float d_real = 0, d_fake = 0, g = 0, q_real = 0, q_fake = 0;
  float accuracy_real = 0, accuracy_fake = 0;

  float d() const { return d_real + d_fake; }
  float q() const { return q_real + q_fake; }
};

// What one step left behind: its metrics and the states of the optimisers, in their order.
struct StepOutcome {
  StepMetrics metrics;
  std::vector<OptimizerState> optimizers;
};

// Bytes by purpose, for the start-up log and --dry-run.
struct MemoryShare {
  std::string purpose;
  std::size_t bytes;
};

// The device work of one training iteration: networks, passes, the optimisers and the random
// stream. One step is load_batch() and run(); nothing in it reads back. Real and fake images go
// through the discriminator as one batch of two groups; gradients that meet the same activations (q
// and g in the generator; q real, q fake and g in the trunk) go back as one batch.
class TrainStep {
 public:
  TrainStep(Backend& backend, const TrainStepOptions& options);

  void initialize(std::uint64_t seed);  // weights and their average

  // images U8 [M,H,W,C] and labels I32 [M] in backend memory; indices I32 [batch] on the host.
  void load_batch(const Tensor& images, const Tensor& labels,
                  std::span<const std::int32_t> indices);
  // Draws latents and runs both halves. After two steps in which operations run as they are asked
  // for, each half is captured once and replayed (on a GPU as a CUDA graph).
  void run();
  // An update of D alone, on the batch that was loaded.
  void run_discriminator();
  // All that comes before run() in a step: `load` brings a batch, once for each update of D.
  template <typename Load>
  void load_step(const Load& load) {
    for (std::int64_t extra = 1; extra < options_.d_steps; ++extra) {
      load();
      run_discriminator();
    }
    load();
  }

  // The parts of run(), for tests.
  void draw_latents();  // and labels of fakes, from the random state, which moves on
  void load_latents(std::span<const float> z);  // [batch * latent_dim], instead of draw_latents()
  void discriminator_half();
  void generator_half();

  StepMetrics read_metrics() const;
  // To read outcomes while later steps are under way.
  std::unique_ptr<Readback> make_outcome_readback() const;
  StepOutcome outcome(const Readback& readback) const;
  RandomState read_random_state() const;
  void write_random_state(const RandomState& state);

  Acgan& model() { return model_; }
  const Acgan& model() const { return model_; }
  const TrainStepOptions& options() const { return options_; }
  Backend& backend() const { return backend_; }
  // D, G and, with Objective::Dgq, Q.
  const std::vector<std::unique_ptr<Adam>>& optimizers() const { return optimizers_; }
  // Null where none is kept.
  GeneratorAverage* average() const { return average_.get(); }
  // The generator that images are drawn with: the average where one is kept. Its working copy is
  // as old as the last refresh_average().
  const Network& drawn_generator() const {
    return average_ ? average_->network() : model_.generator;
  }
  void refresh_average() const {
    if (average_) average_->refresh();
  }
  std::vector<MemoryShare> memory() const;
  double step_flops() const;  // of one step, multiply-adds count two

  // What the last step left of its forward passes, in their order.
  struct Pass {
    const Network* network;
    const Activations* activations;
  };
  std::vector<Pass> passes() const;
  const Tensor& latents() const { return latents_.view(); }  // F32 [batch, Z], of the last step

  // For tests: D's logits [2 * batch] of the first half, [batch] fake ones of the second, class
  // logits.
  const Tensor& source_logits() const { return head_pass_.output(); }
  const Tensor& fake_source_logits() const { return fake_head_pass_.output(); }
  const Tensor& class_logits() const { return classifier_pass_.output(); }
  Tensor fake_images() const { return images_.view().slice(options_.batch, options_.batch); }

 private:
  // Second half of Objective::Joint: only fakes go through the discriminator, in the memory of its
  // first half.
  struct JointPasses {
    Activations trunk, classifier;
  };

  Adam& d() { return *optimizers_[0]; }
  Adam& g() { return *optimizers_[1]; }
  Adam& q() { return *optimizers_[2]; }
  float* metric(float StepMetrics::*member) const;

  RandomState* random() const { return static_cast<RandomState*>(random_.view().data); }
  const Tensor& fake_labels() const {
    return fake_labels_.view() ? fake_labels_.view() : labels_.view();
  }
  const Tensor& seen_images() const {
    return augmented_.view() ? augmented_.view() : images_.view();
  }
  Tensor seen_fakes() const { return seen_images().slice(options_.batch, options_.batch); }
  Tensor seen_gradient() const {
    return augmented_gradient_.view() ? augmented_gradient_.view() : image_gradient_.view();
  }

  void draw_and_discriminate();
  void augment_images();
  void augment_backward(std::int64_t cotangents);
  void source_loss(const Tensor& logits, SourceTerm term, float StepMetrics::*loss,
                   const Tensor& gradient, const Adam& scaler);
  void joint_class_backward(const Tensor& df);
  void class_loss(const Activations& pass, std::int64_t group, float StepMetrics::*loss,
                  float StepMetrics::*accuracy, const Tensor& gradient, const Adam& scaler);
  void dgq_generator_half();
  void joint_generator_half();

  Backend& backend_;
  TrainStepOptions options_;
  Acgan model_;
  std::vector<std::unique_ptr<Adam>> optimizers_;
  std::unique_ptr<GeneratorAverage> average_;
  OwnedTensor images_;           // [2 * batch, H, W, C]: real, fake
  OwnedTensor augmented_;        // the same as the discriminator sees them; or empty: as they are
  OwnedTensor labels_;           // I32 [batch], of the real images
  OwnedTensor fake_labels_;      // I32 [batch], of the fake ones; or empty: those of the real ones
  OwnedTensor indices_;          // I32 [batch]
  OwnedTensor latents_;          // F32 [batch, Z]
  OwnedTensor generator_input_;  // [batch, Z + K]
  Activations generator_pass_, trunk_pass_, head_pass_, fake_head_pass_, classifier_pass_;
  std::unique_ptr<JointPasses> joint_;
  GradientScratch scratch_;
  OwnedTensor source_gradient_;     // [2 * batch, 1]
  OwnedTensor class_gradient_;      // [2 * batch, K]
  OwnedTensor feature_gradient_;    // [3 * batch, features]
  OwnedTensor image_gradient_;      // [2 * batch, H, W, C]
  OwnedTensor augmented_gradient_;  // of augmented_, as image_gradient_
  OwnedTensor metrics_;             // StepMetrics
  OwnedTensor random_;              // RandomState
  int eager_steps_ = 0;
  std::unique_ptr<CapturedWork> discriminator_work_, generator_work_;
};

}  // namespace acgan
