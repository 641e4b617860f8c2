#pragma once

#include "backend/step_state.h"
#include "base/host_device.h"

namespace acgan {

ACGAN_HOST_DEVICE inline bool moves_rate(const LearningRateSchedule& schedule) {
  return schedule.kind != RateSchedule::Constant || schedule.warmup_steps > 0;
}

// cos(pi * way), way in [0,1], as the sine of the rest of a quarter turn: its series to below
// 1e-13. A device's cos() takes local memory for angles that do not come here.
ACGAN_HOST_DEVICE inline double cosine_of_half_turn(double way) {
  constexpr double kPi = 3.14159265358979323846;
  constexpr int kTerms = 10;
  const double angle = kPi * (0.5 - way), square = angle * angle;
  double term = angle, sum = angle;
  for (int k = 1; k < kTerms; ++k) {
    term *= -square / (2 * k * (2 * k + 1));
    sum += term;
  }
  return sum;
}

// The learning rate of the step after `applied` ones.
ACGAN_HOST_DEVICE inline float learning_rate_at(const LearningRateSchedule& schedule,
                                                std::int64_t applied) {
  const auto t = static_cast<double>(applied);
  const auto warmup = static_cast<double>(schedule.warmup_steps);
  const double base = double{schedule.base};
  if (applied < schedule.warmup_steps) return static_cast<float>(base * (t + 1.0) / warmup);
  if (schedule.kind == RateSchedule::Constant) return schedule.base;
  const double span = static_cast<double>(schedule.decay_steps) - warmup;
  const double way = span <= 0.0 || t - warmup >= span ? 1.0 : (t - warmup) / span;
  const double left =
      schedule.kind == RateSchedule::Linear ? 1.0 - way : 0.5 * (1.0 + cosine_of_half_turn(way));
  const double last = double{schedule.final_fraction};
  return static_cast<float>(base * (last + (1.0 - last) * left));
}

// What Backend::finish_step does to a state, on the host and on a device.
ACGAN_HOST_DEVICE inline void finish_optimizer_step(OptimizerState& state,
                                                    const AdamConstants& constants,
                                                    const LossScalePolicy& policy,
                                                    const LearningRateSchedule& schedule) {
  if (state.nonfinite != 0) {
    ++state.skipped;
    ++state.consecutive_skips;
    state.clean_steps = 0;
    const float backed_off = state.loss_scale * policy.backoff_factor;
    if (policy.dynamic) {
      state.loss_scale = backed_off < policy.min_scale ? policy.min_scale : backed_off;
    }
    state.nonfinite = 0;
    return;
  }
  ++state.applied;
  if (moves_rate(schedule)) state.learning_rate = learning_rate_at(schedule, state.applied);
  state.beta1_power *= double{constants.beta1};
  state.beta2_power *= double{constants.beta2};
  state.consecutive_skips = 0;
  ++state.clean_steps;
  if (policy.dynamic && state.clean_steps >= policy.growth_interval) {
    const float grown = state.loss_scale * policy.growth_factor;
    state.loss_scale = grown > policy.max_scale ? policy.max_scale : grown;
    state.clean_steps = 0;
  }
}

}  // namespace acgan
