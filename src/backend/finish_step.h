#pragma once

#include "backend/step_state.h"
#include "base/host_device.h"

namespace acgan {

// What Backend::finish_step does to a state, on the host and on a device.
ACGAN_HOST_DEVICE inline void finish_optimizer_step(OptimizerState& state,
                                                    const AdamConstants& constants,
                                                    const LossScalePolicy& policy) {
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
