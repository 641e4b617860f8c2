#include <catch2/catch.hpp>
#include <cmath>

#include "train/sampler.h"
#include "train/step_harness.h"

// What keeps training from collapsing: each option by itself, and all of them where steps are
// captured, saved and compared between backends.
namespace acgan {
namespace {

using test::Harness;
using test::kFacts;
using test::small_options;
using test::values_of;

TrainStepOptions all_options(DType compute, SourceLoss loss) {
  TrainStepOptions options = small_options(compute);
  options.shape.widths.spectral_norm = true;
  options.ema = {.decay = 0.9f, .ramp_up = 5.0f};
  options.loss = loss;
  options.label_smoothing = loss == SourceLoss::Bce ? 0.1f : 0.0f;
  options.label_sampling = LabelSampling::Even;
  options.d_steps = 2;
  options.classify_fakes_in_d = false;
  options.flip = true;
  options.augment = {.color = true, .translation = true, .cutout = true};
  for (AdamOptions* adam : {&options.d, &options.g, &options.q}) {
    adam->schedule = {.kind = RateSchedule::Cosine, .warmup_steps = 3, .decay_steps = 9};
  }
  return options;
}

void run_step(Harness& harness) {
  harness.step_.load_step([&] { harness.load_batch(); });
  harness.step_.run();
  ++harness.progress_.step;
}

double mean_of(std::span<const float> values, const std::function<double(double)>& f) {
  double sum = 0;
  for (const float value : values) sum += f(double{value});
  return sum / static_cast<double>(values.size());
}

std::vector<float> gradient_of(Harness& harness, std::size_t optimizer, Network& network) {
  const Adam& adam = *harness.step_.optimizers()[optimizer];
  return values_of(adam.gradients(network.parameters()).flat());
}

TEST_CASE("all options: replayed steps equal steps run as they are asked for, bit for bit") {
  const std::string device = GENERATE("cpu", "emulated");
  const Objective objective = GENERATE(Objective::Dgq, Objective::Joint);
  TrainStepOptions options = all_options(GENERATE(DType::F32, DType::F16), SourceLoss::Hinge);
  options.objective = objective;
  Harness eager(options, device), captured(options, device);
  for (int i = 0; i < 4; ++i) {
    eager.load();
    eager.step_.discriminator_half();
    eager.run();
  }
  captured.run_captured(4);
  CHECK(eager.bytes() == captured.bytes());
}

TEST_CASE("all options: steps, save, load and steps equal the steps in one go, bit for bit") {
  const DType compute = GENERATE(DType::F32, DType::F16);
  const TrainStepOptions options = all_options(compute, SourceLoss::Bce);
  Harness whole(options), first(options), second(options);
  whole.run_captured(7);
  first.run_captured(4);
  second.load_checkpoint(first.save());
  second.run_captured(3);
  CHECK(second.bytes() == whole.bytes());
  for (std::size_t i = 0; i < 3; ++i) {
    const OptimizerState a = whole.step_.optimizers()[i]->read_state();
    const OptimizerState b = second.step_.optimizers()[i]->read_state();
    CHECK(a.learning_rate == b.learning_rate);
    CHECK(a.learning_rate < 1e-3f);  // it fell
  }
}

TEST_CASE("the number of D's updates may change where its learning rate has no schedule") {
  TrainStepOptions options = small_options(DType::F32);
  options.d_steps = 5;
  const bool moves = GENERATE(false, true);
  if (moves) options.d.schedule = {.kind = RateSchedule::Cosine, .decay_steps = 50};
  Harness first(options);
  first.run(2);
  const Checkpoint saved = first.save();
  options.d_steps = 1;
  Harness second(options);
  if (moves) {
    CHECK_THROWS_WITH(second.load_checkpoint(saved), Catch::Contains("d_steps is 5 there and 1"));
  } else {
    CHECK_NOTHROW(second.load_checkpoint(saved));
  }
}

TEST_CASE("all options: every backend computes what the host computes") {
  const std::string device = GENERATE("packed", "onednn", "emulated");
  const SourceLoss loss = GENERATE(SourceLoss::Bce, SourceLoss::Hinge);
  CAPTURE(device);
  const TrainStepOptions options = all_options(DType::F32, loss);
  Harness host(options, "host"), other(options, device);
  for (int i = 0; i < 2; ++i) {
    run_step(host);
    run_step(other);
    const StepMetrics expected = host.step_.read_metrics(), actual = other.step_.read_metrics();
    CHECK(actual.d() == Approx(expected.d()).epsilon(1e-3));
    CHECK(actual.g == Approx(expected.g).epsilon(1e-3).margin(1e-4));
    CHECK(actual.q() == Approx(expected.q()).epsilon(1e-3));
  }
}

TEST_CASE("the average follows the generator and its running statistics") {
  TrainStepOptions options = small_options(DType::F32);
  options.ema = {.decay = 0.75f, .ramp_up = 2.0f};
  Harness harness(options);
  const ParameterStore& live = harness.step_.model().generator.parameters();
  const ParameterStore& average = harness.step_.average()->network().parameters();
  const auto expect = [](std::vector<float>& expected, const Tensor& value, double decay) {
    const std::vector<float> values = values_of(value);
    for (std::size_t i = 0; i < values.size(); ++i) {
      expected[i] = static_cast<float>(decay * expected[i] + (1 - decay) * values[i]);
    }
  };
  std::vector<float> weights = values_of(live.flat_master());
  std::vector<float> statistics = values_of(live.flat_statistics());
  CHECK(values_of(average.flat_master()) == weights);
  CHECK(values_of(average.flat_statistics()) == statistics);
  for (int t = 1; t <= 8; ++t) {
    run_step(harness);
    const double decay = std::min(0.75, t / (t + 2.0));
    expect(weights, live.flat_master(), decay);
    expect(statistics, live.flat_statistics(), decay);
  }
  const auto check = [](const std::vector<float>& actual, const std::vector<float>& expected) {
    for (std::size_t i = 0; i < actual.size(); ++i) {
      REQUIRE(actual[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-7));
    }
  };
  check(values_of(average.flat_master()), weights);
  check(values_of(average.flat_statistics()), statistics);
}

TEST_CASE("a step that the generator's optimiser skips leaves the average alone") {
  TrainStepOptions options = small_options(DType::F16);
  options.ema = {.decay = 0.9f};
  options.g.init_scale = 1e30f;  // every scaled gradient of g overflows, those of q do not
  Harness harness(options);
  const Network& average = harness.step_.average()->network();
  const std::vector<float> before = values_of(average.parameters().flat_master());
  run_step(harness);
  CHECK(harness.step_.optimizers()[1]->read_state().skipped == 1);
  CHECK(values_of(average.parameters().flat_master()) == before);
}

TEST_CASE("samples are drawn with the average, and with the live weights where asked for") {
  TrainStepOptions options = small_options(GENERATE(DType::F32, DType::F16));
  options.ema = {.decay = 0.9f};
  Harness harness(options);
  harness.run_captured(4);
  const std::vector<float> z = sample_latents(4, 3, 6);
  const std::vector<std::int32_t> labels{0, 1, 2};
  const TrainStep& step = harness.step_;
  step.refresh_average();
  const auto drawn = Sampler(options.shape, step.drawn_generator(), 3).generate(z, labels);
  const auto live = Sampler(step.model(), 3).generate(z, labels);
  CHECK(drawn != live);

  const Checkpoint checkpoint = harness.save();
  Acgan loaded(*harness.backend_, options.shape, options.compute);
  CHECK(load_generator(checkpoint, loaded) == GeneratorWeights::Average);
  CHECK(Sampler(loaded, 3).generate(z, labels) == drawn);
  CHECK(load_generator(checkpoint, loaded, GeneratorWeights::Live) == GeneratorWeights::Live);
  CHECK(Sampler(loaded, 3).generate(z, labels) == live);
}

TEST_CASE("a run can begin to keep an average, and cease to") {
  TrainStepOptions without = small_options(DType::F32), with = without;
  with.ema = {.decay = 0.9f};
  Harness old(without);
  old.run_captured(3);
  const Checkpoint checkpoint = old.save();
  Harness begins(with);
  begins.load_checkpoint(checkpoint);
  const auto generator = values_of(begins.step_.model().generator.parameters().flat_master());
  CHECK(values_of(begins.step_.average()->network().parameters().flat_master()) == generator);
  begins.run_captured(2);
  CHECK(begins.save().has("ema.generator.dense1.weight"));
  CHECK(begins.save().has("ema.generator.batch_norm1.running_mean"));
  Harness ceases(without);
  ceases.load_checkpoint(begins.save());
  CHECK(!ceases.save().has("ema.generator.dense1.weight"));
  Acgan loaded(*old.backend_, without.shape, DType::F32);
  CHECK(load_generator(checkpoint, loaded) == GeneratorWeights::Live);
}

TEST_CASE("smoothed labels move the target of D's real images and no other") {
  TrainStepOptions options = small_options(DType::F32);
  options.label_smoothing = 0.25f;
  Harness harness(options);
  const StepMetrics metrics = harness.run(2);
  const std::vector<float> logits = values_of(harness.step_.source_logits());
  const std::span real = std::span(logits).first(12), fake = std::span(logits).last(12);
  const auto bce = [](double target) {
    return [target](double l) { return std::log1p(std::exp(l)) - target * l; };
  };
  CHECK(metrics.d_real == Approx(mean_of(real, bce(0.75))));
  CHECK(metrics.d_fake == Approx(mean_of(fake, bce(0.0))));
  CHECK(metrics.g == Approx(mean_of(values_of(harness.step_.fake_source_logits()), bce(1.0))));
}

TEST_CASE("the hinge loss is that of the logits") {
  TrainStepOptions options = small_options(DType::F32);
  options.loss = SourceLoss::Hinge;
  options.objective = GENERATE(Objective::Dgq, Objective::Joint);
  Harness harness(options);
  const StepMetrics metrics = harness.run(2);
  const std::vector<float> logits = values_of(harness.step_.source_logits());
  const auto real = [](double l) { return std::max(0.0, 1 - l); };
  const auto fake = [](double l) { return std::max(0.0, 1 + l); };
  CHECK(metrics.d_real == Approx(mean_of(std::span(logits).first(12), real)));
  CHECK(metrics.d_fake == Approx(mean_of(std::span(logits).last(12), fake)));
  CHECK(metrics.g == Approx(mean_of(values_of(harness.step_.fake_source_logits()), [](double l) {
                       return -l;
                     })).margin(1e-6));
}

TEST_CASE("evenly sampled fakes are judged by the labels that were drawn for them") {
  TrainStepOptions options = small_options(DType::F32);
  options.label_sampling = LabelSampling::Even;
  Harness harness(options);
  harness.run();
  const RandomState random = harness.step_.read_random_state();  // of the next step
  const StepMetrics metrics = harness.run();
  const std::vector<float> logits = values_of(harness.step_.class_logits());  // real, fake
  double loss = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    const auto words = philox_block(random.seed, RandomStream::FakeLabels, random.step,
                                    static_cast<std::uint32_t>(i / 4));
    const auto label = static_cast<std::size_t>((std::uint64_t{words[i % 4]} * 3) >> 32);
    const std::span row = std::span(logits).subspan((12 + i) * 3, 3);
    double sum = 0;
    for (const float l : row) sum += std::exp(double{l});
    loss += (std::log(sum) - double{row[label]}) / 12;
  }
  CHECK(metrics.q_fake == Approx(loss).epsilon(1e-5));
}

TEST_CASE("a single class and fewer images than classes' share train in every mode") {
  TrainStepOptions options = small_options(DType::F32);
  options.label_sampling = GENERATE(LabelSampling::Data, LabelSampling::Even);
  options.objective = GENERATE(Objective::Dgq, Objective::Joint);
  options.shape.classes = 1;
  const auto backend = open_backend("cpu", 0);
  TrainStep step(*backend, options);
  step.initialize(1);
  OwnedTensor images(*backend, {12, 12, 12, 1}, DType::U8), labels(*backend, {12}, DType::I32);
  const std::vector<std::int32_t> indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  for (int i = 0; i < 3; ++i) {
    step.load_step([&] { step.load_batch(images.view(), labels.view(), indices); });
    step.run();
  }
  const StepMetrics metrics = step.read_metrics();
  CHECK(metrics.q() == 0.0f);  // nothing to tell apart
  CHECK(metrics.accuracy_real == 1.0f);
  CHECK(std::isfinite(metrics.d()));
  for (const auto& adam : step.optimizers()) CHECK(adam->read_state().skipped == 0);
}

TEST_CASE("an update of D alone leaves all that is not D's, the other scalers too, as it was") {
  Harness harness(small_options(DType::F16));
  harness.run_captured(3);  // from here on it is a replay
  const auto before = harness.bytes();
  harness.load_batch();
  harness.step_.run_discriminator();
  CHECK(harness.step_.optimizers()[0]->read_state().applied == 4);
  int changed = 0;
  for (const auto& [name, bytes] : harness.bytes()) {
    const bool is_of_d = name.starts_with("discriminator.") || name.starts_with("random.") ||
                         name.starts_with("data.") || name.starts_with("optimizer.m.d.") ||
                         name.starts_with("optimizer.v.d.") ||
                         name.starts_with("optimizer.state.d.");
    if (is_of_d) {
      changed += bytes != before.at(name) ? 1 : 0;
      continue;
    }
    INFO(name);
    CHECK(bytes == before.at(name));
  }
  CHECK(changed > 10);
}

TEST_CASE("d_steps: D makes so many updates a step, each with a batch of its own") {
  TrainStepOptions options = small_options(DType::F32);
  options.d_steps = 3;
  Harness harness(options);
  harness.run_captured(4);
  CHECK(harness.step_.optimizers()[0]->read_state().applied == 12);
  CHECK(harness.step_.optimizers()[1]->read_state().applied == 4);
  CHECK(harness.step_.optimizers()[2]->read_state().applied == 4);
  CHECK(harness.loader_.position().epoch * 48 +
            static_cast<std::uint64_t>(harness.loader_.position().index) ==
        12 * 12);
  Harness again(options);
  CHECK_NOTHROW(again.load_checkpoint(harness.save()));
}

// Real and fake images have their own batch statistics, so that without the fakes' classes nothing
// of the fakes reaches these gradients.
TEST_CASE("without classify_fakes_in_d the classifier learns from real images alone") {
  TrainStepOptions options = small_options(DType::F32);
  options.d.learning_rate = 0.0f;
  options.objective = GENERATE(Objective::Dgq, Objective::Joint);
  options.classify_fakes_in_d = GENERATE(true, false);
  const std::size_t teacher = options.objective == Objective::Dgq ? 2 : 0;
  Harness a(options, "host"), b(options, "host");
  const auto run_with = [](Harness& harness, float z) {
    harness.load_batch();
    harness.step_.load_latents(std::vector<float>(12 * 6, z));
    harness.step_.discriminator_half();
    harness.step_.generator_half();
  };
  run_with(a, 0.5f);
  run_with(b, -0.25f);
  Acgan &one = a.step_.model(), &other = b.step_.model();
  const bool same = !options.classify_fakes_in_d;
  CHECK((gradient_of(a, teacher, one.classifier) == gradient_of(b, teacher, other.classifier)) ==
        same);
  if (options.objective == Objective::Dgq) {
    CHECK((gradient_of(a, 2, one.trunk) == gradient_of(b, 2, other.trunk)) == same);
    CHECK(gradient_of(a, 2, one.generator) != gradient_of(b, 2, other.generator));
  }
  const auto of_generator = gradient_of(a, 1, one.generator);
  CHECK(std::any_of(of_generator.begin(), of_generator.end(), [](float g) { return g != 0; }));
}

// Through loss, discriminator, augmentation and generator at once.
TEST_CASE("the generator's gradient equals finite differences, augmented and with a hinge") {
  TrainStepOptions options = all_options(DType::F32, GENERATE(SourceLoss::Bce, SourceLoss::Hinge));
  for (AdamOptions* adam : {&options.d, &options.g, &options.q}) {
    adam->schedule = {};
    adam->learning_rate = 0.0f;  // the weights stay
  }
  options.objective = GENERATE(Objective::Dgq, Objective::Joint);
  options.shape.classes = 1;                   // no q beside g
  options.shape.widths.spectral_norm = false;  // whose power iteration goes on
  options.flip = false;
  const auto backend = open_backend("host", 0);
  TrainStep step(*backend, options);
  step.initialize(3);
  OwnedTensor images(*backend, {12, 12, 12, 1}, DType::U8), labels(*backend, {12}, DType::I32);
  std::vector<std::uint8_t> pixels(12 * 144);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(i * 7 % 251);
  backend->upload(images.view(), pixels.data());
  const std::vector<std::int32_t> indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  ParameterStore& generator = step.model().generator.parameters();
  const int bias = generator.parameters() - 1;  // of the last layer
  REQUIRE(generator.parameter_name(bias) == "generator.deconv4.bias");
  const auto loss_at = [&](float value) {
    backend->upload(generator.master(bias), &value);
    generator.refresh_working();
    step.write_random_state({.seed = 8, .step = 5});
    step.load_batch(images.view(), labels.view(), indices);
    step.draw_latents();
    step.discriminator_half();
    step.generator_half();
    return double{step.read_metrics().g};
  };
  const float h = 0x1p-10f;
  const double slope = (loss_at(0.5f + h) - loss_at(0.5f - h)) / (2 * double{h});
  loss_at(0.5f);
  const Adam& g = *step.optimizers()[1];
  const double gradient = double{values_of(g.gradients(generator).view(bias)).front()};
  CHECK(std::abs(gradient) > 1e-4);
  CHECK(gradient == Approx(slope).epsilon(0.02));
}

}  // namespace
}  // namespace acgan
