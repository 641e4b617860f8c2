#include "train/train_step.h"

#include <cstring>

namespace acgan {
namespace {

// Until then memory that backends keep for themselves has grown to its size.
constexpr int kEagerSteps = 2;

constexpr std::array<int, 1> kFirstGroup{0};
constexpr std::array<int, 2> kBothGroups{0, 1};
constexpr std::array<int, 2> kFirstGroupTwice{0, 0};
constexpr std::array<int, 3> kRealFakeFake{0, 1, 1};

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

}  // namespace

TrainStep::TrainStep(Backend& backend, const TrainStepOptions& options)
    : backend_(backend),
      options_(options),
      model_(backend, options.shape, options.compute),
      optimizers_(make_optimizers(backend, model_, options)),
      images_(backend,
              {2 * options.batch, options.shape.image_size, options.shape.image_size,
               options.shape.channels},
              options.compute),
      labels_(backend, {options.batch}, DType::I32),
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
      feature_gradient_(backend, {3 * options.batch, options.shape.widths.dense_width},
                        options.compute),
      image_gradient_(backend, images_.view().shape, options.compute),
      metrics_(backend, {static_cast<std::int64_t>(sizeof(StepMetrics))}, DType::U8),
      random_(backend, {static_cast<std::int64_t>(sizeof(RandomState))}, DType::U8) {
  scratch_.reserve(model_.generator, 2 * options.batch);
  scratch_.reserve(model_.trunk, 3 * options.batch);
  scratch_.reserve(model_.source_head, 2 * options.batch);
  scratch_.reserve(model_.classifier, 2 * options.batch);
  scratch_.allocate(backend);
  write_random_state({.seed = options.seed, .step = 0});
}

void TrainStep::load_batch(const Tensor& images, const Tensor& labels,
                           std::span<const std::int32_t> indices) {
  ACGAN_CHECK(static_cast<std::int64_t>(indices.size()) == options_.batch);
  backend_.begin_phase(StepPhase::Data);
  backend_.upload(indices_.view(), indices.data());
  backend_.gather_images(images, indices_.view(), options_.image_divisor,
                         images_.view().slice(0, options_.batch));
  backend_.gather_labels(labels, indices_.view(), labels_.view());
}

void TrainStep::run() {
  const auto first = [this] {
    draw_latents();
    discriminator_half();
  };
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
  auto* state = static_cast<RandomState*>(random_.view().data);
  backend_.begin_phase(StepPhase::Data);
  backend_.random_uniform(state, RandomStream::Latents, latents_.view());
  backend_.advance_random(state);
}

void TrainStep::load_latents(std::span<const float> z) {
  ACGAN_CHECK(static_cast<std::int64_t>(z.size()) == latents_.view().count());
  backend_.upload(latents_.view(), z.data());
}

float* TrainStep::metric(float StepMetrics::*member) const {
  return &(static_cast<StepMetrics*>(metrics_.view().data)->*member);
}

void TrainStep::source_loss(const Tensor& logits, float target, float StepMetrics::*loss,
                            const Tensor& gradient, const Adam& scaler) {
  backend_.bce_with_logits(logits, target,
                           {.loss = metric(loss),
                            .gradient = gradient.reshaped(logits.shape),
                            .scaler = scaler.state()});
}

void TrainStep::class_loss(const Activations& pass, std::int64_t group, float StepMetrics::*loss,
                           float StepMetrics::*accuracy, const Tensor& gradient,
                           const Adam& scaler) {
  const std::int64_t n = options_.batch;
  backend_.softmax_cross_entropy(
      pass.output().slice(group * n, n), labels_.view(),
      {.loss = metric(loss), .gradient = gradient, .scaler = scaler.state()}, metric(accuracy));
}

// d = bce(D(real), 1) + bce(D(fake), 0), to D's weights; with the joint objective + q to D's and
// the classifier's.
void TrainStep::discriminator_half() {
  const std::int64_t n = options_.batch;
  backend_.begin_phase(StepPhase::Discriminator);
  backend_.concat_one_hot(latents_.view(), labels_.view(), generator_input_.view());
  model_.generator.forward(generator_input_.view(), generator_pass_);
  model_.trunk.forward(images_.view(), trunk_pass_);
  model_.source_head.forward(trunk_pass_.output(), head_pass_);

  const Tensor logits = source_logits().reshaped({2 * n});
  const Tensor dlogits = source_gradient_.view();
  source_loss(logits.slice(0, n), 1.0f, &StepMetrics::d_real, dlogits.slice(0, n), d());
  source_loss(logits.slice(n, n), 0.0f, &StepMetrics::d_fake, dlogits.slice(n, n), d());

  const Tensor df = feature_gradient_.view().slice(0, 2 * n);
  const auto to_d = [&](const Network& network) {
    return std::array{GradientTarget{&d().gradients(network.parameters()), 0, 2}};
  };
  model_.source_head.backward(
      head_pass_, scratch_,
      {.dy = dlogits, .group_of = kBothGroups, .targets = to_d(model_.source_head), .dx = df});
  if (joint_) {
    model_.classifier.forward(trunk_pass_.output(), classifier_pass_);
    const Tensor dclass = class_gradient_.view();
    class_loss(classifier_pass_, 0, &StepMetrics::q_real, &StepMetrics::accuracy_real,
               dclass.slice(0, n), d());
    class_loss(classifier_pass_, 1, &StepMetrics::q_fake, &StepMetrics::accuracy_fake,
               dclass.slice(n, n), d());
    model_.classifier.backward(classifier_pass_, scratch_,
                               {.dy = dclass,
                                .group_of = kBothGroups,
                                .targets = to_d(model_.classifier),
                                .dx = df,
                                .dx_accumulation = Accumulation::Add});
  }
  model_.trunk.backward(
      trunk_pass_, scratch_,
      {.dy = df, .group_of = kBothGroups, .targets = to_d(model_.trunk), .dx = {}});

  backend_.begin_phase(StepPhase::Optimizers);
  d().flag_nonfinite();
  model_.trunk.update_running(trunk_pass_, 1, d().state());
  if (joint_) model_.classifier.update_running(classifier_pass_, 1, d().state());
  Adam* const by_d[] = {&d()};
  for (ParameterStore* store : d().stores()) update_parameters(*store, by_d);
  d().finish();
}

void TrainStep::generator_half() {
  backend_.begin_phase(StepPhase::Generator);
  if (joint_) {
    joint_generator_half();
  } else {
    dgq_generator_half();
  }
}

// g = bce(D(fake), 1) to the generator; q = CE(real) + CE(fake) to generator, trunk and classifier:
// both from one forward pass through the updated discriminator.
void TrainStep::dgq_generator_half() {
  const std::int64_t n = options_.batch;
  model_.trunk.forward(images_.view(), trunk_pass_);
  model_.source_head.forward(trunk_pass_.output().slice(n, n), fake_head_pass_);
  model_.classifier.forward(trunk_pass_.output(), classifier_pass_);

  const Tensor dlogits = source_gradient_.view().slice(0, n);
  source_loss(fake_source_logits().reshaped({n}), 1.0f, &StepMetrics::g, dlogits, g());
  const Tensor dclass = class_gradient_.view();
  class_loss(classifier_pass_, 0, &StepMetrics::q_real, &StepMetrics::accuracy_real,
             dclass.slice(0, n), q());
  class_loss(classifier_pass_, 1, &StepMetrics::q_fake, &StepMetrics::accuracy_fake,
             dclass.slice(n, n), q());

  const Tensor df = feature_gradient_.view();  // q real, q fake, g fake
  const std::array to_q_classifier{
      GradientTarget{&q().gradients(model_.classifier.parameters()), 0, 2}};
  model_.classifier.backward(classifier_pass_, scratch_,
                             {.dy = dclass,
                              .group_of = kBothGroups,
                              .targets = to_q_classifier,
                              .dx = df.slice(0, 2 * n)});
  model_.source_head.backward(
      fake_head_pass_, scratch_,
      {.dy = dlogits, .group_of = kFirstGroup, .targets = {}, .dx = df.slice(2 * n, n)});
  const std::array to_q_trunk{GradientTarget{&q().gradients(model_.trunk.parameters()), 0, 2}};
  model_.trunk.backward(trunk_pass_, scratch_,
                        {.dy = df,
                         .group_of = kRealFakeFake,
                         .targets = to_q_trunk,
                         .dx = image_gradient_.view(),
                         .dx_begin = 1});
  const ParameterStore& generator = model_.generator.parameters();
  const std::array to_q_and_g{GradientTarget{&q().gradients(generator), 0, 1},
                              GradientTarget{&g().gradients(generator), 1, 2}};
  model_.generator.backward(generator_pass_, scratch_,
                            {.dy = image_gradient_.view(),
                             .group_of = kFirstGroupTwice,
                             .targets = to_q_and_g,
                             .dx = {}});

  backend_.begin_phase(StepPhase::Optimizers);
  g().flag_nonfinite();
  q().flag_nonfinite();
  model_.trunk.update_running(trunk_pass_, 1, q().state());
  model_.classifier.update_running(classifier_pass_, 1, q().state());
  model_.generator.update_running(generator_pass_, 2, g().state());
  Adam* const by_g_and_q[] = {&g(), &q()};
  Adam* const by_q[] = {&q()};
  update_parameters(model_.generator.parameters(), by_g_and_q);
  update_parameters(model_.trunk.parameters(), by_q);
  update_parameters(model_.classifier.parameters(), by_q);
  g().finish();
  q().finish();
}

// g + q_fake to the generator (Odena et al. 2017, section 3: L_C - L_S), through the updated
// discriminator.
void TrainStep::joint_generator_half() {
  const std::int64_t n = options_.batch;
  const Tensor fake = fake_images();
  model_.trunk.forward(fake, joint_->trunk);
  model_.source_head.forward(joint_->trunk.output(), fake_head_pass_);
  model_.classifier.forward(joint_->trunk.output(), joint_->classifier);

  const Tensor dlogits = source_gradient_.view().slice(0, n);
  source_loss(fake_source_logits().reshaped({n}), 1.0f, &StepMetrics::g, dlogits, g());
  const Tensor dclass = class_gradient_.view().slice(0, n);
  class_loss(joint_->classifier, 0, &StepMetrics::q_fake, &StepMetrics::accuracy_fake, dclass, g());

  const Tensor df = feature_gradient_.view().slice(0, n);
  model_.source_head.backward(fake_head_pass_, scratch_,
                              {.dy = dlogits, .group_of = kFirstGroup, .targets = {}, .dx = df});
  model_.classifier.backward(joint_->classifier, scratch_,
                             {.dy = dclass,
                              .group_of = kFirstGroup,
                              .targets = {},
                              .dx = df,
                              .dx_accumulation = Accumulation::Add});
  const Tensor dimage = image_gradient_.view().slice(0, n);
  model_.trunk.backward(joint_->trunk, scratch_,
                        {.dy = df, .group_of = kFirstGroup, .targets = {}, .dx = dimage});
  const std::array to_g{GradientTarget{&g().gradients(model_.generator.parameters()), 0, 1}};
  model_.generator.backward(generator_pass_, scratch_,
                            {.dy = dimage, .group_of = kFirstGroup, .targets = to_g, .dx = {}});

  backend_.begin_phase(StepPhase::Optimizers);
  g().flag_nonfinite();
  model_.generator.update_running(generator_pass_, 1, g().state());
  Adam* const by_g[] = {&g()};
  update_parameters(model_.generator.parameters(), by_g);
  g().finish();
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
  for (const auto& adam : optimizers_) optimizer += adam->bytes();
  for (const Activations* pass :
       {&generator_pass_, &trunk_pass_, &head_pass_, &fake_head_pass_, &classifier_pass_}) {
    activations += pass->bytes();
  }
  activations += images_.view().bytes() + latents_.view().bytes() + generator_input_.view().bytes();
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
  const double d_half = g + 2 * (t + h) + 2 * (2 * t - t_first + 2 * h);
  const double dgq = 2 * t + h + 2 * c + 3 * (t - t_first) + 2 * t_first + 2 * t + h + 4 * c +
                     2 * (2 * g - g_first);
  const double joint = 6 * c + t + h + c + t + h + c + 2 * g - g_first;
  return static_cast<double>(options_.batch) * (d_half + (joint_ ? joint : dgq));
}

}  // namespace acgan
