#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "backend/blank_backend.h"
#include "backend/profiling_backend.h"
#include "train/step_harness.h"

// Whole steps with model.spectral_norm; test_training_options.cpp has it among all options.
namespace acgan {
namespace {

using test::Harness;
using test::kImages;
using test::small_options;
using test::values_of;

TrainStepOptions spectral_options(DType compute) {
  TrainStepOptions options = small_options(compute);
  options.shape.widths.spectral_norm = true;
  return options;
}

int statistic_of(const ParameterStore& store, const std::string& name) {
  for (int i = 0; i < store.statistics(); ++i) {
    if (store.statistic_name(i) == name) return i;
  }
  FAIL("no statistic " << name);
  return -1;
}

// One weight of a model on the host and what normalises it.
struct Weight {
  ParameterStore* store;
  int index;

  Tensor vector(const char* which) const {
    return store->statistic(statistic_of(*store, store->parameter_name(index) + which));
  }
  SpectralWeight spectral() const {
    return {.master = store->master(index),
            .u = vector("_u"),
            .v = vector("_v"),
            .sigma = vector("_sigma")};
  }
  float sigma() const { return *vector("_sigma").as<float>(); }
};

std::vector<Weight> discriminator_weights(Acgan& model) {
  std::vector<Weight> weights;
  for (Network* network : {&model.trunk, &model.source_head}) {
    ParameterStore& store = network->parameters();
    for (int i = 0; i < store.parameters(); ++i) {
      if (store.parameter_name(i).ends_with(".weight")) weights.push_back({&store, i});
    }
  }
  return weights;
}

// What the power iteration settles at; u and v change.
float settled_sigma(const Weight& weight) {
  Backend& backend = weight.store->backend();
  const Tensor master = weight.store->master(weight.index);
  const OwnedTensor normalized(backend, master.shape, DType::F32);
  backend.spectral_normalize({.weight = weight.spectral(),
                              .working = normalized.view(),
                              .power_iterations = 500,
                              .states = {}});
  return weight.sigma();
}

std::vector<std::vector<std::byte>> bytes_of(const TrainStep& step) {
  std::vector<std::vector<std::byte>> bytes;
  for (const Network* network : step.model().networks()) {
    const ParameterStore& store = network->parameters();
    for (const Tensor& array : {store.flat_working(), store.flat_statistics()}) {
      bytes.emplace_back(array.bytes());
      if (array) step.backend().download(bytes.back().data(), array);
    }
  }
  return bytes;
}

TEST_CASE("trunk and source head are normalised from the first step on, and nothing else") {
  Harness with(spectral_options(DType::F32)), without(small_options(DType::F32));
  Acgan &model = with.step_.model(), &plain = without.step_.model();
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(values_of(model.networks()[i]->parameters().flat_master()) ==
          values_of(plain.networks()[i]->parameters().flat_master()));
    CHECK(!plain.networks()[i]->parameters().flat_working());
  }
  CHECK(!model.generator.parameters().flat_working());
  CHECK(!model.classifier.parameters().flat_working());
  const std::vector<Weight> weights = discriminator_weights(model);
  REQUIRE(weights.size() == 4);
  for (const Weight& weight : weights) {
    INFO(weight.store->parameter_name(weight.index));
    const float sigma = weight.sigma();
    const std::vector<float> master = values_of(weight.store->master(weight.index));
    const std::vector<float> working = values_of(weight.store->working(weight.index));
    for (std::size_t i = 0; i < master.size(); ++i) REQUIRE(working[i] == master[i] / sigma);
    CHECK(sigma == Approx(settled_sigma(weight)).epsilon(0.03));
  }
}

TEST_CASE("sigma follows the weights as they are trained") {
  TrainStepOptions options = spectral_options(DType::F32);
  options.d.learning_rate = options.q.learning_rate = 5e-3f;
  Harness harness(options);
  const std::vector<Weight> weights = discriminator_weights(harness.step_.model());
  const float before = weights.front().sigma();
  harness.run_captured(40);
  CHECK(weights.front().sigma() != Approx(before).epsilon(0.1));
  for (const Weight& weight : weights) {
    INFO(weight.store->parameter_name(weight.index));
    const float sigma = weight.sigma();
    CHECK(sigma == Approx(settled_sigma(weight)).epsilon(0.03));
  }
}

// Two halves of a step in which u and v are what they were before it and no weight moves.
class FrozenStep {
 public:
  explicit FrozenStep(Objective objective) : harness_(options(objective), "host") {
    harness_.load_batch();
    for (const Weight& weight : discriminator_weights(model())) {
      kept_.push_back({values_of(weight.vector("_u")), values_of(weight.vector("_v"))});
    }
  }

  Acgan& model() { return harness_.step_.model(); }
  std::vector<float> gradient(std::size_t optimizer, const Weight& weight) {
    const Adam& adam = *harness_.step_.optimizers()[optimizer];
    return values_of(adam.gradients(*weight.store).view(weight.index));
  }
  StepMetrics run() {
    harness_.step_.write_random_state({.seed = 8, .step = 5});
    harness_.step_.draw_latents();
    restore();
    harness_.step_.discriminator_half();
    restore();
    harness_.step_.generator_half();
    return harness_.step_.read_metrics();
  }

 private:
  struct Vectors {
    std::vector<float> u, v;
  };

  static TrainStepOptions options(Objective objective) {
    TrainStepOptions options = spectral_options(DType::F32);
    options.objective = objective;
    for (AdamOptions* adam : {&options.d, &options.g, &options.q}) adam->learning_rate = 0.0f;
    return options;
  }

  // u and v, and sigma as it follows from them and the weight.
  void restore() {
    const std::vector<Weight> weights = discriminator_weights(model());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto& [u, v] = kept_[i];
      std::copy(u.begin(), u.end(), weights[i].vector("_u").as<float>());
      std::copy(v.begin(), v.end(), weights[i].vector("_v").as<float>());
      const float* w = weights[i].store->master(weights[i].index).as<float>();
      double sigma = 0;
      for (std::size_t k = 0; k < u.size() * v.size(); ++k) {
        sigma += double{u[k / v.size()]} * double{w[k]} * double{v[k % v.size()]};
      }
      *weights[i].vector("_sigma").as<float>() = static_cast<float>(sigma);
      weights[i].store->refresh_working();
    }
  }

  Harness harness_;
  std::vector<Vectors> kept_;
};

// Along the gradient of each weight, through normalisation, discriminator and losses at once.
TEST_CASE("gradients of normalised weights equal finite differences") {
  const Objective objective = GENERATE(Objective::Dgq, Objective::Joint);
  FrozenStep step(objective);
  const auto check_slope = [&](const Weight& weight, std::size_t optimizer, auto loss) {
    INFO(weight.store->parameter_name(weight.index) << ", optimizer " << optimizer);
    step.run();
    const std::vector<float> gradient = step.gradient(optimizer, weight);
    double squares = 0;
    for (const float g : gradient) squares += double{g} * double{g};
    const double length = std::sqrt(squares);
    REQUIRE(length > 1e-4);
    float* w = weight.store->master(weight.index).as<float>();
    const std::vector<float> before(w, w + gradient.size());
    const auto loss_at = [&](double way) {
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        w[i] = static_cast<float>(double{before[i]} + way * double{gradient[i]} / length);
      }
      return loss(step.run());
    };
    const double h = 0x1p-13;  // losses of few images bend sharply
    const double slope = (loss_at(h) - loss_at(-h)) / (2 * h);
    CHECK(slope == Approx(length).epsilon(0.01));
    std::copy(before.begin(), before.end(), w);
  };
  const bool joint = objective == Objective::Joint;
  for (const Weight& weight : discriminator_weights(step.model())) {
    check_slope(weight, 0, [&](const StepMetrics& m) {
      return double{m.d_real} + double{m.d_fake} +
             (joint ? double{m.q_real} + double{m.q_fake} : 0.0);
    });
    const bool is_trunk = weight.store == &step.model().trunk.parameters();
    if (joint || !is_trunk) continue;
    check_slope(weight, 2,
                [](const StepMetrics& m) { return double{m.q_real} + double{m.q_fake}; });
  }
}

TEST_CASE("spectral norm: every backend computes what the host computes") {
  const std::string device = GENERATE("packed", "onednn", "emulated");
  CAPTURE(device);
  const TrainStepOptions options = spectral_options(DType::F32);
  Harness host(options, "host"), other(options, device);
  for (int i = 0; i < 3; ++i) {
    const StepMetrics expected = host.run(), actual = other.run();
    CHECK(actual.d() == Approx(expected.d()).epsilon(1e-3));
    CHECK(actual.g == Approx(expected.g).epsilon(1e-3));
    CHECK(actual.q() == Approx(expected.q()).epsilon(1e-3));
  }
  const auto theirs = other.bytes();
  for (const Weight& weight : discriminator_weights(host.step_.model())) {
    const std::string name = weight.store->parameter_name(weight.index) + "_sigma";
    float sigma = 0;
    REQUIRE(theirs.at(name).size() == sizeof sigma);
    std::memcpy(&sigma, theirs.at(name).data(), sizeof sigma);
    CHECK(sigma == Approx(weight.sigma()).epsilon(1e-3));
  }
}

TEST_CASE("spectral norm: a run that goes on has the same bits, working weights too") {
  TrainStepOptions options = spectral_options(GENERATE(DType::F32, DType::F16));
  options.objective = GENERATE(Objective::Dgq, Objective::Joint);
  Harness whole(options), first(options);
  options.seed = 6;  // other weights and vectors before the checkpoint is read
  Harness second(options);
  whole.run_captured(7);
  first.run_captured(4);
  second.load_checkpoint(first.save());
  CHECK(bytes_of(second.step_) == bytes_of(first.step_));
  second.run_captured(3);
  CHECK(second.bytes() == whole.bytes());
  CHECK(bytes_of(second.step_) == bytes_of(whole.step_));
}

TEST_CASE("spectral norm: a skipped update leaves weights, vectors and working copy alone") {
  const std::string device = GENERATE("cpu", "emulated");
  TrainStepOptions options = spectral_options(DType::F16);
  options.d.init_scale = 1e30f;  // every scaled gradient of d overflows, those of q do not
  Harness harness(options, device);
  harness.load();
  const auto before = bytes_of(harness.step_);
  harness.step_.discriminator_half();
  CHECK(harness.step_.optimizers()[0]->read_state().skipped == 1);
  CHECK(bytes_of(harness.step_) == before);
  const auto vectors = harness.bytes();
  harness.step_.generator_half();
  CHECK(harness.step_.optimizers()[2]->read_state().applied == 1);
  const auto after = harness.bytes();
  for (const char* each : {"_u", "_v", "_sigma"}) {
    const std::string of_trunk = std::string("discriminator.conv2.weight") + each;
    CHECK(after.at(of_trunk) != vectors.at(of_trunk));  // which q trains as well
    const std::string of_head = std::string("discriminator.dense4.weight") + each;
    CHECK(after.at(of_head) == vectors.at(of_head));
  }
}

TEST_CASE("spectral norm: mixed precision follows fp32") {
  const auto at_low_rate = [](DType compute) {
    TrainStepOptions options = spectral_options(compute);
    for (AdamOptions* adam : {&options.d, &options.g, &options.q}) adam->learning_rate = 2e-5f;
    return options;
  };
  Harness fp32(at_low_rate(DType::F32)), mixed(at_low_rate(GENERATE(DType::F16, DType::BF16)));
  for (int i = 0; i < 20; ++i) {
    const StepMetrics a = fp32.run(), b = mixed.run();
    CHECK(b.d() == Approx(a.d()).epsilon(0.07));
    CHECK(b.g == Approx(a.g).epsilon(0.07));
    CHECK(b.q() == Approx(a.q()).epsilon(0.07));
  }
}

// What a step asks for and holds, without a device.
struct Demand {
  std::int64_t normalizations = 0, gradients = 0;
  std::size_t weights = 0;  // bytes
};

Demand demand_of(const TrainStepOptions& options) {
  ProfilingBackend profile(std::make_unique<BlankBackend>());
  const OwnedTensor images(profile, {kImages, 12, 12, 1}, DType::U8);
  const OwnedTensor labels(profile, {kImages}, DType::I32);
  TrainStep step(profile, options);
  step.load_batch(images.view(), labels.view(), std::vector<std::int32_t>(12));
  step.run();
  Demand demand{.weights = step.memory().front().bytes};
  for (const OperationTotals& totals : profile.operations()) {
    if (totals.operation == "spectral_normalize") demand.normalizations += totals.calls;
    if (totals.operation == "spectral_norm_backward") demand.gradients += totals.calls;
  }
  return demand;
}

TEST_CASE("profile and memory plan count spectral norm, and nothing of it without the option") {
  TrainStepOptions with = spectral_options(DType::F32), without = small_options(DType::F32);
  with.objective = without.objective = GENERATE(Objective::Dgq, Objective::Joint);
  const Demand more = demand_of(with), less = demand_of(without);
  CHECK(less.normalizations == 0);
  CHECK(less.gradients == 0);
  // Three weights of the trunk and one of the head for D; those of the trunk again for Q.
  const std::int64_t expected = with.objective == Objective::Dgq ? 7 : 4;
  CHECK(more.normalizations == expected);
  CHECK(more.gradients == expected);
  // A working copy of four weights and eight vectors, and u, v and sigma; multiples of 32 elements.
  const std::size_t working = 128 + 2048 + 3456 + 32 + 8 * 32;
  const std::size_t vectors = (32 + 32) + (32 + 128) + (32 + 160) + (32 + 32) + 4 * 32;
  CHECK(more.weights - less.weights == 4 * (working + vectors));
}

TEST_CASE("a checkpoint with spectral norm and a run without it do not go together") {
  Harness with(spectral_options(DType::F32)), without(small_options(DType::F32));
  CHECK_THROWS_WITH(without.load_checkpoint(with.save()),
                    Catch::Contains("spectral_norm is true there and false here"));
  CHECK_THROWS_WITH(with.load_checkpoint(without.save()),
                    Catch::Contains("spectral_norm is false there and true here"));
}

}  // namespace
}  // namespace acgan
