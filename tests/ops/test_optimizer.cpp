#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/device_value.h"
#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

using Values = std::vector<double>;
using Bytes = std::vector<std::byte>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kLearningRate = 2e-4f;
constexpr AdamConstants kConstants{};

OptimizerState fresh_state(float loss_scale = 1.0f) {
  OptimizerState state;
  state.learning_rate = kLearningRate;
  state.loss_scale = loss_scale;
  return state;
}

// Adam as golden/README.md writes it, in float64.
struct AdamReference {
  Values p, m, v;
  int t = 0;

  explicit AdamReference(Values parameters)
      : p(std::move(parameters)), m(p.size(), 0.0), v(p.size(), 0.0) {}

  void step(const Values& gradient) {
    const double b1 = double{kConstants.beta1};
    const double b2 = double{kConstants.beta2};
    ++t;
    for (std::size_t i = 0; i < p.size(); ++i) {
      m[i] = b1 * m[i] + (1 - b1) * gradient[i];
      v[i] = b2 * v[i] + (1 - b2) * gradient[i] * gradient[i];
      p[i] -= double{kLearningRate} * std::sqrt(1 - std::pow(b2, t)) / (1 - std::pow(b1, t)) *
              m[i] / (std::sqrt(v[i]) + double{kConstants.epsilon});
    }
  }
};

// One optimiser's memory over `count` parameters.
struct Moments {
  Tensor gradient, m, v;
  DeviceValue<OptimizerState> state;

  AdamMoments arguments() const {
    return {.gradient = gradient, .m = m, .v = v, .state = state.get()};
  }
};

class AdamFixture : public TensorFixture {
 protected:
  Moments moments(const Values& gradient, const OptimizerState& state = fresh_state()) {
    const Shape shape{static_cast<std::int64_t>(gradient.size())};
    const Values zeros(gradient.size(), 0.0);
    return {in_out(shape, DType::F32, gradient), in_out(shape, DType::F32, zeros),
            in_out(shape, DType::F32, zeros), DeviceValue<OptimizerState>(backend(), state)};
  }

  void update(const Tensor& master, const Tensor& working,
              const std::vector<const Moments*>& optimizers) {
    std::vector<AdamMoments> arguments;
    for (const Moments* each : optimizers) arguments.push_back(each->arguments());
    backend().adam_step(
        {.master = master, .working = working, .optimizers = arguments, .constants = kConstants});
  }

  void finish(const Moments& optimizer, const LossScalePolicy& policy = {},
              const LearningRateSchedule& schedule = {}) {
    backend().finish_step(optimizer.state.get(), kConstants, policy, schedule);
  }
};

std::int64_t any_count() { return GENERATE(1, 7, 64, 1023, 70001); }

}  // namespace

TEST_CASE_METHOD(AdamFixture, "Adam's first step has the size of the learning rate",
                 "[ops][optimizer]") {
  const Tensor master = in_out({4}, DType::F32, {1.0, -2.0, 0.5, 3.0});
  const Moments adam = moments({0.25, -8.0, 1e-8, 0.0});
  update(master, {}, {&adam});
  // m = g / 2, v = g^2 / 1000, step = lr * sqrt(0.001) / 0.5, so p -= lr * g / (|g| + e) with
  // e = 1e-8 / sqrt(0.001) = 3.1623e-7.
  const Values p = read(master);
  CHECK_THAT(p[0], Catch::WithinAbs(1.0 - 2e-4 * 0.25 / (0.25 + 3.1623e-7), 1e-7));
  CHECK_THAT(p[1], Catch::WithinAbs(-2.0 + 2e-4, 2e-7));
  CHECK_THAT(p[2], Catch::WithinAbs(0.5 - 2e-4 * 1e-8 / (1e-8 + 3.1623e-7), 6e-8));
  CHECK(p[3] == 3.0);
  const Values m = read(adam.m);
  const Values v = read(adam.v);
  CHECK(m[0] == 0.125);
  CHECK(m[1] == -4.0);
  CHECK_THAT(v[0], Catch::WithinRel(0.0625 * (1.0 - double{0.999f}), 1e-6));
  CHECK_THAT(v[1], Catch::WithinRel(64.0 * (1.0 - double{0.999f}), 1e-6));
}

TEST_CASE_METHOD(AdamFixture, "Adam follows float64 over several steps", "[ops][optimizer]") {
  const DType dtype = GENERATE(DType::F32, DType::F16, DType::BF16);
  const std::int64_t count = any_count();
  CAPTURE(name_of(dtype), count);
  place(count % 2 == 0 ? Placement::Aligned : Placement::OffByOne);
  AdamReference reference(rounded(random_values(count, 1), DType::F32));
  const Tensor master = in_out({count}, DType::F32, reference.p);
  const Tensor working = output({count}, dtype);
  const Moments adam = moments(reference.m);
  for (unsigned step = 0; step < 4; ++step) {
    const Values gradient = rounded(random_values(count, 2 + step, -0.01, 0.01), DType::F32);
    backend().upload(adam.gradient, encode(gradient, DType::F32).data());
    update(master, working, {&adam});
    finish(adam);
    reference.step(gradient);
  }
  const Values magnitude(reference.p.size(), 1.0);
  check_close(read(master), {reference.p, magnitude, 16}, DType::F32);
  check_close(read(adam.m), {reference.m, Values(reference.p.size(), 0.01), 1}, DType::F32);
  check_close(read(adam.v), {reference.v, Values(reference.p.size(), 1e-4), 1}, DType::F32);
  check_equal(read(working), rounded(read(master), dtype));
  CHECK(adam.state.read().applied == 4);
  CHECK_THAT(adam.state.read().beta2_power, Catch::WithinRel(std::pow(double{0.999f}, 4), 1e-12));
}

TEST_CASE_METHOD(AdamFixture, "Adam gives the same bits for every loss scale", "[ops][optimizer]") {
  const std::int64_t count = GENERATE(5, 1023);
  const Values start = rounded(random_values(count, 11), DType::F32);
  const Values gradient = rounded(random_values(count, 12, -1e-3, 1e-3), DType::F32);
  std::vector<Bytes> results;
  for (const float scale : {1.0f, 128.0f, 65536.0f}) {
    Values scaled = gradient;
    for (double& value : scaled) value *= double{scale};
    const Tensor master = in_out({count}, DType::F32, start);
    const Moments adam = moments(scaled, fresh_state(scale));
    update(master, {}, {&adam});
    results.push_back(read_bytes(master));
  }
  CHECK(results[0] != encode(start, DType::F32));
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

TEST_CASE_METHOD(AdamFixture, "weights with zero gradients stay bit-identical",
                 "[ops][optimizer]") {
  const std::int64_t count = any_count();
  Values start = random_values(count, 13);
  start[0] = -0.0;
  const Tensor master = in_out({count}, DType::F32, start);
  const Tensor working = output({count}, DType::F16);
  const Moments adam = moments(Values(start.size(), 0.0), fresh_state(65536.0f));
  const Bytes zeros = encode(Values(start.size(), 0.0), DType::F32);
  for (int step = 0; step < 3; ++step) {
    update(master, working, {&adam});
    finish(adam);
  }
  CHECK(read_bytes(master) == encode(start, DType::F32));
  CHECK(read_bytes(adam.m) == zeros);
  CHECK(read_bytes(adam.v) == zeros);
  CHECK(read_bytes(working) == encode(rounded(start, DType::F32), DType::F16));
}

TEST_CASE_METHOD(AdamFixture, "one infinite gradient skips the whole step", "[ops][optimizer]") {
  const double fault = GENERATE(as<double>{}, kInfinity, -kInfinity, std::nan(""));
  const std::int64_t count = any_count();
  CAPTURE(fault, count);
  const Values start = rounded(random_values(count, 14), DType::F32);
  Values gradient = random_values(count, 15);
  gradient[gradient.size() / 2] = fault;
  const Tensor master = in_out({count}, DType::F32, start);
  const Tensor working = in_out({count}, DType::BF16, Values(start.size(), 7.0));
  const Moments adam = moments(gradient, fresh_state(1024.0f));
  const Bytes zeros = encode(Values(start.size(), 0.0), DType::F32);
  backend().flag_nonfinite(adam.gradient, adam.state.get());
  CHECK(adam.state.read().nonfinite == 1);
  update(master, working, {&adam});
  finish(adam, {.dynamic = true});
  CHECK(read_bytes(master) == encode(start, DType::F32));
  CHECK(read_bytes(adam.m) == zeros);
  CHECK(read_bytes(adam.v) == zeros);
  check_equal(read(working), Values(start.size(), 7.0));
  const OptimizerState state = adam.state.read();
  CHECK(state.beta1_power == 1.0);  // a skipped step does not age the bias correction
  CHECK(state.beta2_power == 1.0);
  CHECK(state.applied == 0);
  CHECK(state.skipped == 1);
  CHECK(state.loss_scale == 512.0f);
  CHECK(state.nonfinite == 0);
}

TEST_CASE_METHOD(AdamFixture, "two optimisers on one array both step, in order",
                 "[ops][optimizer]") {
  const std::int64_t count = any_count();
  CAPTURE(count);
  const Values start = rounded(random_values(count, 16), DType::F32);
  const Values gradient_g = rounded(random_values(count, 17), DType::F32);
  const Values gradient_q = rounded(random_values(count, 18), DType::F32);

  const Tensor separate = in_out({count}, DType::F32, start);
  const Moments first = moments(gradient_g);
  const Moments second = moments(gradient_q);
  update(separate, {}, {&first});
  update(separate, {}, {&second});

  const Tensor together = in_out({count}, DType::F32, start);
  const Tensor working = output({count}, DType::F16);
  const Moments g = moments(gradient_g);
  const Moments q = moments(gradient_q);
  update(together, working, {&g, &q});
  CHECK(read_bytes(together) == read_bytes(separate));
  CHECK(read_bytes(q.m) == read_bytes(second.m));
  check_equal(read(working), rounded(read(together), DType::F16));
}

TEST_CASE_METHOD(AdamFixture, "an overflow of one optimiser leaves the other's step alone",
                 "[ops][optimizer]") {
  const bool first_overflows = GENERATE(true, false);
  const std::int64_t count = any_count();
  CAPTURE(first_overflows, count);
  const Values start = rounded(random_values(count, 19), DType::F32);
  const Values good = rounded(random_values(count, 20), DType::F32);
  Values bad = good;
  bad.back() = std::nan("");
  const Tensor alone = in_out({count}, DType::F32, start);
  const Moments reference = moments(good);
  update(alone, {}, {&reference});

  const Tensor master = in_out({count}, DType::F32, start);
  const Tensor working = output({count}, DType::BF16);
  const Moments g = moments(first_overflows ? bad : good);
  const Moments q = moments(first_overflows ? good : bad);
  backend().flag_nonfinite(g.gradient, g.state.get());
  backend().flag_nonfinite(q.gradient, q.state.get());
  update(master, working, {&g, &q});
  CHECK(read_bytes(master) == read_bytes(alone));
  check_equal(read(working), rounded(read(alone), DType::BF16));
  const Moments& skipped = first_overflows ? g : q;
  CHECK(read_bytes(skipped.m) == encode(Values(start.size(), 0.0), DType::F32));
}

TEST_CASE_METHOD(AdamFixture,
                 "the flag is raised by any element that is not finite and by no other",
                 "[ops][optimizer]") {
  const std::int64_t count = any_count();
  CAPTURE(count);
  Values gradient = random_values(count, 21);
  gradient[0] = std::numeric_limits<float>::max();
  gradient.back() = std::numeric_limits<float>::denorm_min();
  const Moments adam = moments(gradient);
  backend().flag_nonfinite(adam.gradient, adam.state.get());
  CHECK(adam.state.read().nonfinite == 0);
  for (const double fault : {kInfinity, -kInfinity, std::nan("")}) {
    for (const std::size_t at : {std::size_t{0}, gradient.size() / 2, gradient.size() - 1}) {
      Values faulty = gradient;
      faulty[at] = fault;
      const Moments other = moments(faulty);
      backend().flag_nonfinite(other.gradient, other.state.get());
      CHECK(other.state.read().nonfinite == 1);
    }
  }
  OptimizerState raised = fresh_state();
  raised.nonfinite = 1;  // by another parameter array of the same optimiser
  const Moments clean = moments(gradient, raised);
  backend().flag_nonfinite(clean.gradient, clean.state.get());
  CHECK(clean.state.read().nonfinite == 1);
}

TEST_CASE_METHOD(AdamFixture, "the loss scale grows on time and stays in its bounds",
                 "[ops][optimizer]") {
  const LossScalePolicy policy{.dynamic = true,
                               .growth_factor = 2.0f,
                               .backoff_factor = 0.5f,
                               .growth_interval = 3,
                               .min_scale = 8.0f,
                               .max_scale = 64.0f};
  const Moments adam = moments({0.0}, fresh_state(16.0f));
  const auto finish_with = [&](bool overflow) {
    OptimizerState state = adam.state.read();
    state.nonfinite = overflow ? 1 : 0;
    backend().upload({adam.state.get(), {std::int64_t{sizeof state}}, DType::U8}, &state);
    finish(adam, policy);
    return adam.state.read().loss_scale;
  };
  CHECK(finish_with(false) == 16.0f);
  CHECK(finish_with(false) == 16.0f);
  CHECK(finish_with(false) == 32.0f);  // the third clean step
  CHECK(adam.state.read().clean_steps == 0);
  CHECK(finish_with(false) == 32.0f);
  CHECK(finish_with(false) == 32.0f);
  CHECK(finish_with(true) == 16.0f);  // starts the count again
  CHECK(adam.state.read().clean_steps == 0);
  CHECK(adam.state.read().consecutive_skips == 1);
  CHECK(finish_with(true) == 8.0f);
  CHECK(finish_with(true) == 8.0f);  // the floor
  CHECK(adam.state.read().consecutive_skips == 3);
  for (int step = 0; step < 9; ++step) finish_with(false);
  CHECK(adam.state.read().loss_scale == 64.0f);
  CHECK(adam.state.read().consecutive_skips == 0);
  for (int step = 0; step < 3; ++step) finish_with(false);
  CHECK(adam.state.read().loss_scale == 64.0f);  // the ceiling
  CHECK(adam.state.read().applied == 17);
  CHECK(adam.state.read().skipped == 3);
}

TEST_CASE_METHOD(AdamFixture, "a fixed loss scale never moves and still skips",
                 "[ops][optimizer]") {
  const LossScalePolicy policy{.dynamic = false, .growth_interval = 1};
  OptimizerState state = fresh_state(128.0f);
  state.nonfinite = 1;
  const Moments adam = moments({0.0}, state);
  finish(adam, policy);
  CHECK(adam.state.read().loss_scale == 128.0f);
  CHECK(adam.state.read().skipped == 1);
  CHECK(adam.state.read().applied == 0);
  finish(adam, policy);
  CHECK(adam.state.read().loss_scale == 128.0f);
  CHECK(adam.state.read().applied == 1);
  CHECK(adam.state.read().beta1_power == 0.5);
  CHECK(adam.state.read().beta2_power == double{0.999f});
  CHECK(adam.state.read().learning_rate == kLearningRate);
}

TEST_CASE_METHOD(AdamFixture, "Adam refuses arrays of different length", "[ops][optimizer]") {
  const Tensor master = in_out({4}, DType::F32, {1.0, 2.0, 3.0, 4.0});
  const Moments adam = moments({1.0, 1.0, 1.0});
  const Moments right = moments({1.0, 1.0, 1.0, 1.0});
  CHECK_THROWS_AS(update(master, {}, {&adam}), std::logic_error);
  CHECK_THROWS_AS(update(master, in_out({3}, DType::F16, {0.0, 0.0, 0.0}), {&right}),
                  std::logic_error);
}

}  // namespace acgan::test
