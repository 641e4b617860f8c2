#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/open_backend.h"
#include "train/train_state.h"
#include "train/train_step.h"

namespace acgan::test {

inline constexpr std::int64_t kImages = 48;
inline const DataFacts kFacts{
    .class_names = {"a", "b", "c"}, .counts = {16, 16, 16}, .kind = "folder", .fingerprint = "f"};

inline TrainStepOptions small_options(DType compute) {
  AdamOptions adam;
  adam.learning_rate = 1e-3f;
  if (compute != DType::F32) {
    adam.init_scale = 16.0f;  // more overflows in so small a network
    adam.policy.dynamic = true;
  }
  return {.shape = {.image_size = 12,
                    .channels = 1,
                    .classes = 3,
                    .widths = {.latent_dim = 6,
                               .dense_width = 24,
                               .conv1_width = 8,
                               .conv2_width = 16,
                               .classifier_width = 12}},
          .compute = compute,
          .objective = Objective::Dgq,
          .batch = 12,
          .d = adam,
          .g = adam,
          .q = adam,
          .seed = 5};
}

// The same with residual networks.
inline TrainStepOptions residual_options(DType compute) {
  TrainStepOptions options = small_options(compute);
  options.shape.image_size = 8;
  options.shape.widths = {.preset = ModelPreset::Resnet32,
                          .latent_dim = 6,
                          .generator_width = 8,
                          .discriminator_width = 16,
                          .classifier_width = 12};
  return options;
}

// A training step on images that show their class: a bright bar in one of three places.
class Harness {
 public:
  explicit Harness(const TrainStepOptions& options, const std::string& device = "cpu",
                   ConvLibrary conv = ConvLibrary::Auto)
      : backend_(open_backend({.device = device, .conv = conv}).backend),
        step_(*backend_, options),
        loader_(kImages, 9),
        images_(*backend_, {kImages, options.shape.image_size, options.shape.image_size, 1},
                DType::U8),
        labels_(*backend_, {kImages}, DType::I32) {
    const auto size = static_cast<std::size_t>(images_.view().row_size());
    std::vector<std::uint8_t> pixels(kImages * size);
    std::vector<std::int32_t> labels(kImages);
    PhiloxSequence random(1, RandomStream::Doodles, 0);
    for (std::size_t i = 0; i < kImages; ++i) {
      labels[i] = static_cast<std::int32_t>(i % 3);
      for (std::size_t p = 0; p < size; ++p) {
        const bool bar = 3 * p / size == i % 3;
        pixels[i * size + p] = static_cast<std::uint8_t>((bar ? 180 : 0) + random.next_below(60));
      }
    }
    backend_->upload(images_.view(), pixels.data());
    backend_->upload(labels_.view(), labels.data());
    step_.initialize(options.seed);
  }

  void load_batch() {
    std::vector<std::int32_t> indices(static_cast<std::size_t>(step_.options().batch));
    loader_.next(indices);
    step_.load_batch(images_.view(), labels_.view(), indices);
  }
  void load() {
    load_batch();
    step_.draw_latents();
  }
  StepMetrics run() {
    load();
    step_.discriminator_half();
    step_.generator_half();
    ++progress_.step;
    return step_.read_metrics();
  }
  // As training does it: later steps are replays.
  void run_captured(int steps) {
    for (int i = 0; i < steps; ++i) {
      step_.load_step([this] { load_batch(); });
      step_.run();
      ++progress_.step;
    }
  }
  StepMetrics run(int steps) {
    StepMetrics metrics;
    for (int i = 0; i < steps; ++i) metrics = run();
    return metrics;
  }

  // All that a checkpoint holds.
  std::map<std::string, std::vector<std::byte>> bytes() const {
    std::map<std::string, std::vector<std::byte>> result;
    const Checkpoint checkpoint = save();
    for (const auto& [name, array] : checkpoint.arrays()) result[name] = array.bytes;
    return result;
  }
  Checkpoint save() const { return save_state(step_, loader_.position(), progress_, "", kFacts); }
  void load_checkpoint(const Checkpoint& checkpoint) {
    load_state(checkpoint, step_, loader_, progress_, kFacts);
  }

  std::unique_ptr<Backend> backend_;
  TrainStep step_;
  DataLoader loader_;
  Progress progress_;
  OwnedTensor images_, labels_;
};

inline std::vector<float> values_of(const Tensor& t) {
  return {t.as<float>(), t.as<float>() + t.count()};
}

}  // namespace acgan::test
