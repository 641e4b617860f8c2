#include "train/train_step.h"

#include <cstring>

namespace acgan {
namespace {

// Until then memory that backends keep for themselves has grown to its size.
constexpr int kEagerSteps = 2;

std::vector<std::unique_ptr<Adam>> make_optimizers(Backend& backend, Acgan& model,
                                                   const TrainStepOptions& options) {
  ParameterStore* generator = &model.generator.parameters();
  ParameterStore* trunk = &model.trunk.parameters();
  ParameterStore* head = &model.source_head.parameters();
  ParameterStore* classifier = &model.classifier.parameters();
  std::vector<std::unique_ptr<Adam>> result;
  if (options.objective == Objective::Joint) {
    result.push_back(
        std::make_unique<Adam>(backend, "d", std::vector{trunk, head, classifier}, options.d));
    result.push_back(std::make_unique<Adam>(backend, "g", std::vector{generator}, options.g));
    return result;
  }
  result.push_back(std::make_unique<Adam>(backend, "d", std::vector{trunk, head}, options.d));
  result.push_back(std::make_unique<Adam>(backend, "g", std::vector{generator}, options.g));
  result.push_back(
      std::make_unique<Adam>(backend, "q", std::vector{generator, trunk, classifier}, options.q));
  return result;
}

OwnedTensor tensor_if(bool wanted, Backend& backend, const Shape& shape, DType dtype) {
  return wanted ? OwnedTensor(backend, shape, dtype) : OwnedTensor();
}

}  // namespace

TrainStep::TrainStep(Backend& backend, const TrainStepOptions& options)
    : backend_(backend),
      options_(options),
      model_(backend, options.shape, options.compute),
      optimizers_(make_optimizers(backend, model_, options)),
      average_(options.ema.decay > 0.0f ? std::make_unique<GeneratorAverage>(
                                              backend, options.shape, options.compute, options.ema)
                                        : nullptr),
      images_(backend,
              {2 * options.batch, options.shape.image_size, options.shape.image_size,
               options.shape.channels},
              options.compute),
      augmented_(tensor_if(options.augment.any(), backend, images_.view().shape, options.compute)),
      labels_(backend, {options.batch}, DType::I32),
      fake_labels_(tensor_if(options.label_sampling == LabelSampling::Even, backend,
                             {options.batch}, DType::I32)),
      indices_(backend, {options.batch}, DType::I32),
      latents_(backend, {options.batch, options.shape.widths.latent_dim}, DType::F32),
      generator_input_(backend,
                       {options.batch, options.shape.widths.latent_dim + options.shape.classes},
                       options.compute),
      generator_pass_(model_.generator, options.batch, 1, fake_images()),
      trunk_pass_(model_.trunk, options.batch, 2),
      head_pass_(model_.source_head, options.batch, 2),
      fake_head_pass_(model_.source_head, options.batch, 1),
      classifier_pass_(model_.classifier, options.batch, 2),
      joint_(options.objective == Objective::Joint
                 ? std::make_unique<JointPasses>(
                       JointPasses{trunk_pass_.in_place_of(1), classifier_pass_.in_place_of(1)})
                 : nullptr),
      source_gradient_(backend, {2 * options.batch, 1}, options.compute),
      class_gradient_(backend, {2 * options.batch, options.shape.classes}, options.compute),
      feature_gradient_(backend, {3 * options.batch, options.shape.features()}, options.compute),
      image_gradient_(backend, images_.view().shape, options.compute),
      augmented_gradient_(
          tensor_if(options.augment.any(), backend, images_.view().shape, options.compute)),
      metrics_(backend, {static_cast<std::int64_t>(sizeof(StepMetrics))}, DType::U8),
      random_(backend, {static_cast<std::int64_t>(sizeof(RandomState))}, DType::U8) {
  scratch_.reserve(model_.generator, 2 * options.batch);
  scratch_.reserve(model_.trunk, 3 * options.batch);
  scratch_.reserve(model_.source_head, 2 * options.batch);
  scratch_.reserve(model_.classifier, 2 * options.batch);
  scratch_.allocate(backend);
  write_random_state({.seed = options.seed, .step = 0});
}

void TrainStep::initialize(std::uint64_t seed) {
  model_.initialize(seed);
  if (average_) average_->start_from(model_.generator);
}

void TrainStep::load_batch(const Tensor& images, const Tensor& labels,
                           std::span<const std::int32_t> indices) {
  ACGAN_CHECK(static_cast<std::int64_t>(indices.size()) == options_.batch);
  backend_.begin_phase(StepPhase::Data);
  backend_.upload(indices_.view(), indices.data());
  backend_.gather_images(images, indices_.view(), options_.image_divisor,
                         images_.view().slice(0, options_.batch));
  if (options_.flip) backend_.flip_images(random(), images_.view().slice(0, options_.batch));
  backend_.gather_labels(labels, indices_.view(), labels_.view());
}

void TrainStep::draw_and_discriminate() {
  draw_latents();
  discriminator_half();
}

void TrainStep::run_discriminator() {
  if (discriminator_work_) {
    discriminator_work_->run();
  } else {
    draw_and_discriminate();
  }
}

void TrainStep::run() {
  const auto first = [this] { draw_and_discriminate(); };
  const auto second = [this] { generator_half(); };
  if (eager_steps_ < kEagerSteps) {
    first();
    second();
    ++eager_steps_;
    return;
  }
  if (!discriminator_work_) {
    discriminator_work_ = backend_.capture(first);
    generator_work_ = backend_.capture(second);
  }
  discriminator_work_->run();
  generator_work_->run();
}

void TrainStep::draw_latents() {
  backend_.begin_phase(StepPhase::Data);
  backend_.random_uniform(random(), RandomStream::Latents, latents_.view());
  if (fake_labels_.view()) {
    backend_.draw_labels(random(), options_.shape.classes, fake_labels_.view());
  }
  backend_.advance_random(random());
}

void TrainStep::load_latents(std::span<const float> z) {
  ACGAN_CHECK(static_cast<std::int64_t>(z.size()) == latents_.view().count());
  backend_.upload(latents_.view(), z.data());
}

float* TrainStep::metric(float StepMetrics::*member) const {
  return &(static_cast<StepMetrics*>(metrics_.view().data)->*member);
}

StepMetrics TrainStep::read_metrics() const {
  StepMetrics metrics;
  backend_.download(&metrics, metrics_.view());
  return metrics;
}

std::unique_ptr<Readback> TrainStep::make_outcome_readback() const {
  std::vector<Tensor> sources{metrics_.view()};
  for (const auto& adam : optimizers_) {
    sources.push_back({adam->state(), {std::int64_t{sizeof(OptimizerState)}}, DType::U8});
  }
  return backend_.make_readback(std::move(sources));
}

StepOutcome TrainStep::outcome(const Readback& readback) const {
  StepOutcome outcome;
  outcome.optimizers.resize(optimizers_.size());
  const std::byte* source = readback.bytes().data();
  std::memcpy(&outcome.metrics, source, sizeof(StepMetrics));
  source += sizeof(StepMetrics);
  std::memcpy(outcome.optimizers.data(), source,
              outcome.optimizers.size() * sizeof(OptimizerState));
  return outcome;
}

RandomState TrainStep::read_random_state() const {
  RandomState state;
  backend_.download(&state, random_.view());
  return state;
}

void TrainStep::write_random_state(const RandomState& state) {
  backend_.upload(random_.view(), &state);
}

std::vector<TrainStep::Pass> TrainStep::passes() const {
  return {{&model_.generator, &generator_pass_},
          {&model_.trunk, &trunk_pass_},
          {&model_.source_head, &head_pass_},
          {&model_.source_head, &fake_head_pass_},
          {&model_.classifier, &classifier_pass_}};
}

std::vector<MemoryShare> TrainStep::memory() const {
  std::size_t weights = 0, optimizer = 0, activations = 0, gradients = 0;
  for (const Network* network : model_.networks()) weights += network->parameters().bytes();
  if (average_) weights += average_->network().parameters().bytes();
  for (const auto& adam : optimizers_) optimizer += adam->bytes();
  for (const Activations* pass :
       {&generator_pass_, &trunk_pass_, &head_pass_, &fake_head_pass_, &classifier_pass_}) {
    activations += pass->bytes();
  }
  activations += images_.view().bytes() + latents_.view().bytes() + generator_input_.view().bytes();
  if (augmented_.view()) {
    activations += augmented_.view().bytes();
    gradients += augmented_gradient_.view().bytes();
  }
  gradients += scratch_.bytes() + source_gradient_.view().bytes() + class_gradient_.view().bytes() +
               feature_gradient_.view().bytes() + image_gradient_.view().bytes();
  return {{"weights", weights},
          {"activations", activations},
          {"activation gradients", gradients},
          {"optimizers", optimizer},
          {"workspace", backend_.workspace_bytes()}};
}

// Forward passes, weight gradients (as much again for each target) and data gradients, counted as
// this step runs them.
double TrainStep::step_flops() const {
  const double g = model_.generator.forward_flops(), t = model_.trunk.forward_flops(),
               h = model_.source_head.forward_flops(), c = model_.classifier.forward_flops();
  const double t_first = model_.trunk.layers().front()->forward_flops();
  const double g_first = model_.generator.layers().front()->forward_flops();
  const double classified = options_.classify_fakes_in_d ? 2 : 1;  // groups
  const double joint_class = joint_ ? 2 * c + 2 * classified * c : 0;
  const double d_half = g + 2 * (t + h) + 2 * (2 * t - t_first + 2 * h) + joint_class;
  const double dgq = 2 * t + h + 2 * c + 3 * (t - t_first) + 2 * t_first + classified * t + h +
                     (2 + classified) * c + 2 * (2 * g - g_first);
  const double joint = t + h + c + t + h + c + 2 * g - g_first;
  return static_cast<double>(options_.batch) *
         (static_cast<double>(options_.d_steps) * d_half + (joint_ ? joint : dgq));
}

}  // namespace acgan
