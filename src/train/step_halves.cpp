#include "train/train_step.h"

// What each half of a step computes.
namespace acgan {
namespace {

constexpr std::array<int, 1> kFirstGroup{0};
constexpr std::array<int, 2> kBothGroups{0, 1};
constexpr std::array<int, 2> kFirstGroupTwice{0, 0};
constexpr std::array<int, 3> kRealFakeFake{0, 1, 1};

}  // namespace

void TrainStep::source_loss(const Tensor& logits, SourceTerm term, float StepMetrics::*loss,
                            const Tensor& gradient, const Adam& scaler) {
  const LossResult result{
      .loss = metric(loss), .gradient = gradient.reshaped(logits.shape), .scaler = scaler.state()};
  if (options_.loss == SourceLoss::Hinge) return backend_.hinge_loss(logits, term, result);
  const float real = term == SourceTerm::Real ? 1.0f - options_.label_smoothing : 1.0f;
  backend_.bce_with_logits(logits, term == SourceTerm::Fake ? 0.0f : real, result);
}

void TrainStep::class_loss(const Activations& pass, std::int64_t group, float StepMetrics::*loss,
                           float StepMetrics::*accuracy, const Tensor& gradient,
                           const Adam& scaler) {
  const std::int64_t n = options_.batch;
  const bool is_fake = loss == &StepMetrics::q_fake;
  backend_.softmax_cross_entropy(
      pass.output().slice(group * n, n), is_fake ? fake_labels() : labels_.view(),
      {.loss = metric(loss), .gradient = gradient, .scaler = scaler.state()}, metric(accuracy));
}

// Real and fake images as the discriminator sees them, in both halves of a step.
void TrainStep::augment_images() {
  if (!augmented_.view()) return;
  backend_.augment({.state = random(), .kinds = options_.augment}, images_.view(),
                   augmented_.view());
}

// From the gradients of the fakes that the discriminator saw to those of the fakes themselves.
void TrainStep::augment_backward(std::int64_t cotangents) {
  if (!augmented_.view()) return;
  const std::int64_t n = options_.batch;
  for (std::int64_t i = 0; i < cotangents; ++i) {
    backend_.augment_backward({.state = random(), .kinds = options_.augment, .first_image = n},
                              augmented_gradient_.view().slice(i * n, n),
                              image_gradient_.view().slice(i * n, n));
  }
}

// d = bce(D(real), 1) + bce(D(fake), 0), to D's weights; with the joint objective + q to D's and
// the classifier's.
void TrainStep::discriminator_half() {
  const std::int64_t n = options_.batch;
  backend_.begin_phase(StepPhase::Discriminator);
  backend_.concat_one_hot(latents_.view(), fake_labels(), generator_input_.view());
  model_.generator.forward(generator_input_.view(), generator_pass_);
  augment_images();
  model_.trunk.forward(seen_images(), trunk_pass_);
  model_.source_head.forward(trunk_pass_.output(), head_pass_);

  const Tensor logits = source_logits().reshaped({2 * n});
  const Tensor dlogits = source_gradient_.view();
  source_loss(logits.slice(0, n), SourceTerm::Real, &StepMetrics::d_real, dlogits.slice(0, n), d());
  source_loss(logits.slice(n, n), SourceTerm::Fake, &StepMetrics::d_fake, dlogits.slice(n, n), d());

  const Tensor df = feature_gradient_.view().slice(0, 2 * n);
  const auto to_d = [&](const Network& network) {
    return std::array{GradientTarget{&d().gradients(network.parameters()), 0, 2}};
  };
  model_.source_head.backward(
      head_pass_, scratch_,
      {.dy = dlogits, .group_of = kBothGroups, .targets = to_d(model_.source_head), .dx = df});
  if (joint_) joint_class_backward(df);
  model_.trunk.backward(
      trunk_pass_, scratch_,
      {.dy = df, .group_of = kBothGroups, .targets = to_d(model_.trunk), .dx = {}});

  backend_.begin_phase(StepPhase::Optimizers);
  d().finish_gradients();
  model_.trunk.update_running(trunk_pass_, 1, d().state());
  if (joint_) model_.classifier.update_running(classifier_pass_, 1, d().state());
  Adam* const by_d[] = {&d()};
  for (ParameterStore* store : d().stores()) update_parameters(*store, by_d);
  d().finish();
}

// Objective::Joint: q of D's half, to the classifier's weights and on top of the features' gradient
// df [2 * batch, features].
void TrainStep::joint_class_backward(const Tensor& df) {
  const std::int64_t n = options_.batch;
  const std::int64_t groups = options_.classify_fakes_in_d ? 2 : 1;
  model_.classifier.forward(trunk_pass_.output(), classifier_pass_);
  const Tensor dclass = class_gradient_.view().slice(0, groups * n);
  class_loss(classifier_pass_, 0, &StepMetrics::q_real, &StepMetrics::accuracy_real,
             dclass.slice(0, n), d());
  class_loss(classifier_pass_, 1, &StepMetrics::q_fake, &StepMetrics::accuracy_fake,
             groups == 2 ? dclass.slice(n, n) : Tensor{}, d());
  const std::array to_classifier{
      GradientTarget{&d().gradients(model_.classifier.parameters()), 0, groups}};
  model_.classifier.backward(
      classifier_pass_, scratch_,
      {.dy = dclass,
       .group_of = std::span(kBothGroups).first(static_cast<std::size_t>(groups)),
       .targets = to_classifier,
       .dx = df.slice(0, groups * n),
       .dx_accumulation = Accumulation::Add});
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
// both from one forward pass through the updated discriminator. Without classify_fakes_in_d
// CE(fake) teaches the generator only.
void TrainStep::dgq_generator_half() {
  const std::int64_t n = options_.batch;
  const std::int64_t classified =
      options_.classify_fakes_in_d ? 2 : 1;  // groups, by trunk and head
  model_.trunk.forward(seen_images(), trunk_pass_);
  model_.source_head.forward(trunk_pass_.output().slice(n, n), fake_head_pass_);
  model_.classifier.forward(trunk_pass_.output(), classifier_pass_);

  const Tensor dlogits = source_gradient_.view().slice(0, n);
  source_loss(fake_source_logits().reshaped({n}), SourceTerm::Generator, &StepMetrics::g, dlogits,
              g());
  const Tensor dclass = class_gradient_.view();
  class_loss(classifier_pass_, 0, &StepMetrics::q_real, &StepMetrics::accuracy_real,
             dclass.slice(0, n), q());
  class_loss(classifier_pass_, 1, &StepMetrics::q_fake, &StepMetrics::accuracy_fake,
             dclass.slice(n, n), q());

  const Tensor df = feature_gradient_.view();  // q real, q fake, g fake
  const std::array to_q_classifier{
      GradientTarget{&q().gradients(model_.classifier.parameters()), 0, classified}};
  model_.classifier.backward(classifier_pass_, scratch_,
                             {.dy = dclass,
                              .group_of = kBothGroups,
                              .targets = to_q_classifier,
                              .dx = df.slice(0, 2 * n)});
  model_.source_head.backward(
      fake_head_pass_, scratch_,
      {.dy = dlogits, .group_of = kFirstGroup, .targets = {}, .dx = df.slice(2 * n, n)});
  const std::array to_q_trunk{
      GradientTarget{&q().gradients(model_.trunk.parameters()), 0, classified}};
  model_.trunk.backward(trunk_pass_, scratch_,
                        {.dy = df,
                         .group_of = kRealFakeFake,
                         .targets = to_q_trunk,
                         .dx = seen_gradient(),
                         .dx_begin = 1});
  augment_backward(2);
  const ParameterStore& generator = model_.generator.parameters();
  const std::array to_q_and_g{GradientTarget{&q().gradients(generator), 0, 1},
                              GradientTarget{&g().gradients(generator), 1, 2}};
  model_.generator.backward(generator_pass_, scratch_,
                            {.dy = image_gradient_.view(),
                             .group_of = kFirstGroupTwice,
                             .targets = to_q_and_g,
                             .dx = {}});

  backend_.begin_phase(StepPhase::Optimizers);
  g().finish_gradients();
  q().finish_gradients();
  model_.trunk.update_running(trunk_pass_, 1, q().state());
  model_.classifier.update_running(classifier_pass_, 1, q().state());
  model_.generator.update_running(generator_pass_, 2, g().state());
  Adam* const by_g_and_q[] = {&g(), &q()};
  Adam* const by_q[] = {&q()};
  update_parameters(model_.generator.parameters(), by_g_and_q);
  update_parameters(model_.trunk.parameters(), by_q);
  update_parameters(model_.classifier.parameters(), by_q);
  if (average_) average_->advance(model_.generator, g().state());
  g().finish();
  q().finish();
}

// g + q_fake to the generator (Odena et al. 2017, section 3: L_C - L_S), through the updated
// discriminator.
void TrainStep::joint_generator_half() {
  const std::int64_t n = options_.batch;
  model_.trunk.forward(seen_fakes(), joint_->trunk);
  model_.source_head.forward(joint_->trunk.output(), fake_head_pass_);
  model_.classifier.forward(joint_->trunk.output(), joint_->classifier);

  const Tensor dlogits = source_gradient_.view().slice(0, n);
  source_loss(fake_source_logits().reshaped({n}), SourceTerm::Generator, &StepMetrics::g, dlogits,
              g());
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
  model_.trunk.backward(
      joint_->trunk, scratch_,
      {.dy = df, .group_of = kFirstGroup, .targets = {}, .dx = seen_gradient().slice(0, n)});
  augment_backward(1);
  const Tensor dimage = image_gradient_.view().slice(0, n);
  const std::array to_g{GradientTarget{&g().gradients(model_.generator.parameters()), 0, 1}};
  model_.generator.backward(generator_pass_, scratch_,
                            {.dy = dimage, .group_of = kFirstGroup, .targets = to_g, .dx = {}});

  backend_.begin_phase(StepPhase::Optimizers);
  g().finish_gradients();
  model_.generator.update_running(generator_pass_, 1, g().state());
  Adam* const by_g[] = {&g()};
  update_parameters(model_.generator.parameters(), by_g);
  if (average_) average_->advance(model_.generator, g().state());
  g().finish();
}

}  // namespace acgan
