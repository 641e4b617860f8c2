#include <algorithm>
#include <cmath>

#include "backend/ema_weight.h"
#include "backend/finish_step.h"
#include "backend/host/host_backend.h"
#include "backend/host/host_values.h"

namespace acgan {
namespace {

// The arrays of one optimiser and the constants of its next step.
struct MomentStep {
  const float* gradient;
  float* m;
  float* v;
  float loss_scale;
  float step_size;  // learning rate with both bias corrections
};

MomentStep prepare(const AdamMoments& moments, const AdamConstants& constants) {
  const OptimizerState& state = *moments.state;
  const double beta1_power = state.beta1_power * double{constants.beta1};
  const double beta2_power = state.beta2_power * double{constants.beta2};
  const double step_size =
      double{state.learning_rate} * std::sqrt(1.0 - beta2_power) / (1.0 - beta1_power);
  return {moments.gradient.as<float>(), moments.m.as<float>(), moments.v.as<float>(),
          state.loss_scale, static_cast<float>(step_size)};
}

// One element of one step, in float as on every backend.
float updated(float parameter, const MomentStep& step, const AdamConstants& constants,
              std::int64_t i) {
  const float g = step.gradient[i] / step.loss_scale;
  step.m[i] = constants.beta1 * step.m[i] + (1.0f - constants.beta1) * g;
  step.v[i] = constants.beta2 * step.v[i] + (1.0f - constants.beta2) * (g * g);
  return parameter - step.step_size * step.m[i] / (std::sqrt(step.v[i]) + constants.epsilon);
}

}  // namespace

void HostBackend::flag_nonfinite(const Tensor& gradient, OptimizerState* state) {
  const float* values = gradient.as<float>();
  const bool finite = std::all_of(values, values + gradient.count(),
                                  [](float value) { return std::isfinite(value); });
  if (!finite) state->nonfinite = 1;
}

void HostBackend::adam_step(const AdamUpdate& update) {
  const Tensor& master = update.master;
  ACGAN_CHECK(master.dtype == DType::F32);
  ACGAN_CHECK(!update.working || update.working.shape == master.shape);
  bool applied = false;
  for (const AdamMoments& moments : update.optimizers) {
    ACGAN_CHECK(moments.state != nullptr && moments.gradient.shape == master.shape);
    ACGAN_CHECK(moments.m.shape == master.shape && moments.v.shape == master.shape);
    if (moments.state->nonfinite != 0) continue;
    const MomentStep step = prepare(moments, update.constants);
    float* parameters = master.as<float>();
    for (std::int64_t i = 0; i < master.count(); ++i) {
      parameters[i] = updated(parameters[i], step, update.constants, i);
    }
    applied = true;
  }
  if (applied && update.working) host::store(update.working, host::widen(master));
}

void HostBackend::ema_step(const EmaUpdate& update) {
  ACGAN_CHECK(update.state != nullptr && update.value.shape == update.average.shape);
  if (update.state->nonfinite != 0) return;
  const float weight = ema_weight(*update.state, update.decay, update.ramp_up);
  const float* value = update.value.as<float>();
  float* average = update.average.as<float>();
  for (std::int64_t i = 0; i < update.value.count(); ++i) {
    average[i] += weight * (value[i] - average[i]);
  }
}

void HostBackend::finish_step(OptimizerState* state, const AdamConstants& constants,
                              const LossScalePolicy& policy, const LearningRateSchedule& schedule) {
  finish_optimizer_step(*state, constants, policy, schedule);
}

}  // namespace acgan
