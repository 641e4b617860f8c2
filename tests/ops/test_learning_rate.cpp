#include <catch2/catch.hpp>

#include <cmath>
#include <numbers>

#include "support/device_value.h"
#include "support/tensor_fixture.h"

namespace acgan::test {
namespace {

constexpr float kBase = 1e-3f;

class RateFixture : public TensorFixture {
 protected:
  // The learning rate after one more step.
  float rate_after_step(const LearningRateSchedule& schedule, bool overflow = false) {
    OptimizerState value = state.read();
    value.nonfinite = overflow ? 1 : 0;
    state.write(value);
    backend().finish_step(state.get(), {}, {}, schedule);
    return state.read().learning_rate;
  }

  DeviceValue<OptimizerState> state{backend(), OptimizerState{.learning_rate = kBase}};
};

}  // namespace

TEST_CASE_METHOD(RateFixture, "the learning rate rises, falls and stays as scheduled",
                 "[ops][optimizer]") {
  const RateSchedule kind =
      GENERATE(RateSchedule::Constant, RateSchedule::Linear, RateSchedule::Cosine);
  const LearningRateSchedule schedule{
      .kind = kind, .base = kBase, .final_fraction = 0.25f, .warmup_steps = 4, .decay_steps = 14};
  for (int t = 1; t <= 20; ++t) {
    CAPTURE(t);
    const double way = std::min(1.0, (t - 4) / 10.0);
    const double fall =
        kind == RateSchedule::Linear ? way : (1 - std::cos(std::numbers::pi * way)) / 2;
    const double share = t < 4                            ? (t + 1) / 4.0
                         : kind == RateSchedule::Constant ? 1.0
                                                          : 1.0 - 0.75 * fall;
    CHECK_THAT(rate_after_step(schedule), Catch::WithinRel(double{kBase} * share, 1e-6));
  }
}

TEST_CASE_METHOD(RateFixture, "a skipped step does not move the learning rate",
                 "[ops][optimizer]") {
  const LearningRateSchedule schedule{
      .kind = RateSchedule::Linear, .base = kBase, .decay_steps = 10};
  const float before = rate_after_step(schedule);
  CHECK(rate_after_step(schedule, true) == before);
  CHECK(rate_after_step(schedule) < before);
}

TEST_CASE_METHOD(RateFixture, "without a schedule the learning rate is left as it is",
                 "[ops][optimizer]") {
  CHECK(rate_after_step({}) == kBase);  // not the schedule's base
}

}  // namespace acgan::test
