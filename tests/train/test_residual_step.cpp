#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "train/memory_plan.h"
#include "train/step_harness.h"

// Whole training steps of model.preset resnet32, with small widths.

namespace acgan {
namespace {

using test::Harness;
using test::residual_options;
using test::values_of;

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error += std::pow(double{a[i]} - b[i], 2);
    size += std::pow(double{b[i]}, 2);
  }
  return std::sqrt(error / size);
}

std::vector<float> gradient(Harness& harness, std::size_t optimizer, std::size_t store) {
  const Adam& adam = *harness.step_.optimizers()[optimizer];
  const Tensor flat = adam.gradients(*adam.stores()[store]).flat();
  std::vector<float> values(static_cast<std::size_t>(flat.count()));
  harness.backend_->download(values.data(), flat);
  return values;
}

TEST_CASE("every backend computes the host's residual step") {
  const std::string device = GENERATE("packed", "onednn", "emulated", "emulated:75");
  const Objective objective = GENERATE(Objective::Dgq, Objective::Joint);
  const DType compute = GENERATE(DType::F32, DType::F16);
  INFO(device << ", " << name_of(compute));
  TrainStepOptions options = residual_options(compute);
  options.objective = objective;
  for (AdamOptions* adam : {&options.d, &options.g, &options.q}) adam->learning_rate = 1e-5f;
  Harness host(options, "host"), other(options, device, ConvLibrary::Handwritten);
  const StepMetrics expected = host.run(), found = other.run();
  const bool is_half = compute == DType::F16;
  CHECK(found.d() == Approx(expected.d()).epsilon(is_half ? 2e-3 : 1e-5));
  CHECK(found.g == Approx(expected.g).epsilon(is_half ? 5e-3 : 1e-4));
  CHECK(found.q() == Approx(expected.q()).epsilon(is_half ? 5e-3 : 1e-4));
  for (std::size_t i = 0; i < host.step_.optimizers().size(); ++i) {
    for (std::size_t k = 0; k < host.step_.optimizers()[i]->stores().size(); ++k) {
      INFO("optimizer " << i << ", store " << k);
      CHECK(distance(gradient(other, i, k), gradient(host, i, k)) < (is_half ? 0.05 : 2e-3));
    }
  }
}

TEST_CASE("residual steps, save, load and steps equal the steps in one go, bit for bit") {
  const DType compute = GENERATE(DType::F32, DType::F16);
  TrainStepOptions options = residual_options(compute);
  options.ema.decay = 0.9f;
  Harness whole(options), first(options), second(options);
  whole.run(5);
  first.run(3);
  second.load_checkpoint(first.save());
  second.run(2);
  CHECK(second.bytes() == whole.bytes());
}

TEST_CASE("replayed residual steps equal steps run as they are asked for, bit for bit") {
  const std::string device = GENERATE("cpu", "emulated");
  const DType compute = GENERATE(DType::F32, DType::F16);
  INFO(device << ", " << name_of(compute));
  TrainStepOptions options = residual_options(compute);
  options.batch = 4;
  Harness eager(options, device), captured(options, device);
  eager.run(3);
  captured.run_captured(3);
  CHECK(eager.bytes() == captured.bytes());
}

TEST_CASE("residual networks: mixed precision follows fp32") {
  const auto at_low_rate = [](DType compute) {
    TrainStepOptions options = residual_options(compute);
    for (AdamOptions* adam : {&options.d, &options.g, &options.q}) adam->learning_rate = 2e-5f;
    return options;
  };
  const DType half = GENERATE(DType::F16, DType::BF16);
  const double margin = half == DType::F16 ? 0.02 : 0.1;
  Harness fp32(at_low_rate(DType::F32)), mixed(at_low_rate(half));
  for (int i = 0; i < 12; ++i) {
    const StepMetrics a = fp32.run(), b = mixed.run();
    CHECK(b.d() == Approx(a.d()).epsilon(margin));
    CHECK(b.g == Approx(a.g).epsilon(margin));
    CHECK(b.q() == Approx(a.q()).epsilon(margin));
  }
}

TEST_CASE("residual networks learn a small set, in every precision") {
  const DType compute = GENERATE(DType::F32, DType::F16, DType::BF16);
  Harness harness(residual_options(compute));
  const StepMetrics first = harness.run();
  const StepMetrics last = harness.run(40);
  CHECK(last.q_real < 0.5f * first.q_real);
  CHECK(last.accuracy_real > 0.9f);
}

TEST_CASE("the memory plan is what a residual step really holds") {
  const auto backend = open_backend("host", 1);
  const TrainStepOptions options = residual_options(GENERATE(DType::F32, DType::F16));
  const TrainStep step(*backend, options);
  const std::vector<MemoryShare> held = step.memory(), planned = plan_memory(options);
  REQUIRE(held.size() == planned.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    INFO(held[i].purpose);
    CHECK(held[i].bytes == planned[i].bytes);
  }
}

TEST_CASE("a checkpoint says what its networks consist of") {
  Harness residual(residual_options(DType::F32));
  const Checkpoint checkpoint = residual.save();
  const ModelConfig widths = read_model_facts(checkpoint).shape.widths;
  CHECK(widths.preset == ModelPreset::Resnet32);
  CHECK(widths.generator_width == 8);
  CHECK(widths.discriminator_width == 16);

  Harness study(test::small_options(DType::F32));
  CHECK_THROWS_WITH(study.load_checkpoint(checkpoint),
                    Catch::Contains("preset is resnet32 there and study here") &&
                        Catch::Contains("image_size is 8 there and 12 here"));
  CHECK_THROWS_WITH(residual.load_checkpoint(study.save()),
                    Catch::Contains("preset is study there and resnet32 here"));
  TrainStepOptions wider = residual_options(DType::F32);
  wider.shape.widths.generator_width = 16;
  CHECK_THROWS_WITH(Harness(wider).load_checkpoint(checkpoint),
                    Catch::Contains("generator_width is 8 there and 16 here"));
}

TEST_CASE("a residual checkpoint whose facts do not fit its arrays is refused") {
  Harness harness(residual_options(DType::F32));
  const auto refusal_with = [&](const std::string& key, const std::string& value) -> std::string {
    Checkpoint checkpoint = harness.save();
    checkpoint.set_text(key, value);
    try {
      read_model_facts(checkpoint);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Output);
      return error.what();
    }
    return "not refused";
  };
  CHECK_THAT(refusal_with("preset", "resnet64"),
             Catch::Contains("preset should be study or resnet32, found \"resnet64\""));
  CHECK_THAT(refusal_with("preset", "study"), Catch::Contains("dense_width"));
  CHECK_THAT(refusal_with("image_size", "12"), Catch::Contains("but its metadata says"));
  for (const char* key :
       {"latent_dim", "generator_width", "discriminator_width", "classifier_width"}) {
    CHECK_THAT(refusal_with(key, "65536"), Catch::Contains("but its metadata says"));
  }
}

}  // namespace
}  // namespace acgan
