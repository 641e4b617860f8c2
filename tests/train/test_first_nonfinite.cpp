#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "train/first_nonfinite.h"
#include "train/step_harness.h"

namespace acgan {
namespace {

using test::Harness;
using test::small_options;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Puts `value` into one element of a parameter; the working copy follows.
void plant(Network& network, const std::string& parameter, float value) {
  ParameterStore& store = network.parameters();
  for (int i = 0; i < store.parameters(); ++i) {
    if (store.parameter_name(i) != parameter) continue;
    std::vector<float> values(static_cast<std::size_t>(store.master(i).count()));
    store.backend().download(values.data(), store.master(i));
    values[values.size() / 2] = value;
    store.backend().upload(store.master(i), values.data());
    store.refresh_working();
    return;
  }
  FAIL("no parameter " << parameter);
}

// All that Adam moves, and the running statistics.
std::map<std::string, std::vector<std::byte>> weights_of(const Harness& harness) {
  auto bytes = harness.bytes();
  std::erase_if(bytes, [](const auto& named) {
    return named.first.starts_with("optimizer.state.") || named.first.starts_with("random.") ||
           named.first.starts_with("data.") || named.first.starts_with("progress.");
  });
  return bytes;
}

TEST_CASE("after a healthy step there is nothing to name") {
  Harness harness(small_options(GENERATE(DType::F32, DType::F16, DType::BF16)));
  harness.run(2);
  CHECK(first_nonfinite(harness.step_).empty());
}

TEST_CASE("the first layer whose output is not finite is named, in every precision") {
  const DType compute = GENERATE(DType::F32, DType::F16, DType::BF16);
  const float value = GENERATE(as<float>{}, kNan, kInfinity);
  struct Case {
    int network;  // as Acgan::networks() lists them
    const char* parameter;
    const char* layer;
  };
  const auto planted = GENERATE(Case{0, "generator.dense2.weight", "generator.dense2 "},
                                Case{1, "discriminator.conv2.weight", "discriminator.conv2 "},
                                Case{2, "discriminator.dense4.weight", "discriminator.dense4 "},
                                Case{3, "classifier.dense2.weight", "classifier.dense2 "});
  Harness harness(small_options(compute));
  harness.run(1);
  plant(*harness.step_.model().networks()[static_cast<std::size_t>(planted.network)],
        planted.parameter, value);
  harness.run(1);
  CHECK_THAT(first_nonfinite(harness.step_),
             Catch::Contains(std::string("in its output is ") + planted.layer) &&
                 Catch::Contains("its weights hold them too"));
}

TEST_CASE("latents that are not finite are named as such") {
  Harness harness(small_options(DType::F32));
  harness.load();
  harness.step_.load_latents(std::vector<float>(12 * 6, kNan));
  harness.step_.discriminator_half();
  harness.step_.generator_half();
  CHECK_THAT(first_nonfinite(harness.step_),
             Catch::Contains("generator.dense1 ") && Catch::Contains("its latents hold them"));
}

TEST_CASE("where only gradients overflow, the first of them is named") {
  Harness harness(small_options(DType::F16));
  harness.run(1);
  Adam& adam = *harness.step_.optimizers()[0];
  OptimizerState state = adam.read_state();
  state.loss_scale = 1e30f;
  adam.write_state(state);
  harness.run(1);
  CHECK_THAT(first_nonfinite(harness.step_), Catch::Contains("every layer's output is finite") &&
                                                 Catch::Contains("discriminator.dense4") &&
                                                 Catch::Contains("(optimizer d)"));
}

TEST_CASE("weights that hold Inf or NaN stop every optimiser that sees them, and nothing moves") {
  const DType compute = GENERATE(DType::F32, DType::F16);
  const float value = GENERATE(as<float>{}, kNan, kInfinity);
  Harness harness(small_options(compute));
  harness.run(2);
  plant(harness.step_.model().trunk, "discriminator.conv2.weight", value);
  const auto before = weights_of(harness);
  std::vector<OptimizerState> states;
  for (const auto& adam : harness.step_.optimizers()) states.push_back(adam->read_state());
  const StepMetrics metrics = harness.run();  // D, G and Q all go through the trunk
  CHECK_FALSE(std::isfinite(metrics.d()));
  CHECK(weights_of(harness) == before);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const OptimizerState after = harness.step_.optimizers()[i]->read_state();
    CHECK(after.skipped == states[i].skipped + 1);
    CHECK(after.consecutive_skips == 1);
    CHECK(after.applied == states[i].applied);
    const float factor = compute == DType::F32 ? 1.0f : 0.5f;  // fp32 has a fixed scale of 1
    CHECK(after.loss_scale == states[i].loss_scale * factor);
  }
}

TEST_CASE("a gradient that holds Inf or NaN skips its optimiser alone") {
  const float value = GENERATE(as<float>{}, kNan, kInfinity, -kInfinity);
  Harness harness(small_options(DType::F32));
  harness.run(1);
  Adam& g = *harness.step_.optimizers()[1];
  const GradientStore& gradients = g.gradients(harness.step_.model().generator.parameters());
  const auto before = weights_of(harness);
  std::vector<float> values(static_cast<std::size_t>(gradients.flat().count()));
  harness.backend_->download(values.data(), gradients.flat());
  values[values.size() / 3] = value;
  harness.backend_->upload(gradients.flat(), values.data());
  g.finish_gradients();
  Adam* const only[] = {&g};
  update_parameters(harness.step_.model().generator.parameters(), only);
  g.finish();
  CHECK(weights_of(harness) == before);
  CHECK(g.read_state().skipped == 1);
  CHECK(g.read_state().nonfinite == 0);
  for (const std::size_t other : {std::size_t{0}, std::size_t{2}}) {
    CHECK(harness.step_.optimizers()[other]->read_state().skipped == 0);
  }
}

}  // namespace
}  // namespace acgan
