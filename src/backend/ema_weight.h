#pragma once

#include "backend/step_state.h"
#include "base/host_device.h"

namespace acgan {

// The share of the new value in Backend::ema_step, on the host and on a device.
ACGAN_HOST_DEVICE inline float ema_weight(const OptimizerState& state, float decay, float ramp_up) {
  const double t = static_cast<double>(state.applied) + 1.0;
  const double ramped = t / (t + double{ramp_up});
  return static_cast<float>(1.0 - (ramped < double{decay} ? ramped : double{decay}));
}

}  // namespace acgan
