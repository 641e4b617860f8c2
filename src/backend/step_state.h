#pragma once

#include <cstdint>

namespace acgan {

// State of one optimiser that lives in the backend's memory, so that a step needs no host: the
// loss scaler, Adam's ageing and the flag that skips a step. Plain data; saved in checkpoints
// field by field.
struct OptimizerState {
  double beta1_power = 1.0;  // beta1^t over the applied steps
  double beta2_power = 1.0;  // beta2^t
  std::int64_t applied = 0;  // steps that changed the weights (Adam's t)
  std::int64_t skipped = 0;  // steps left out because a gradient was not finite
  float learning_rate = 0.0f;
  float loss_scale = 1.0f;
  std::int32_t clean_steps = 0;  // since the loss scale last changed
  std::int32_t consecutive_skips = 0;
  std::int32_t nonfinite = 0;  // set by flag_nonfinite, cleared by finish_step
};

// How finish_step moves the loss scale (Micikevicius et al. 2018, section 3.2). A fixed scale
// still skips steps whose gradients are not finite.
struct LossScalePolicy {
  bool dynamic = false;
  float growth_factor = 2.0f;
  float backoff_factor = 0.5f;
  std::int32_t growth_interval = 2000;
  float min_scale = 1.0f;
  float max_scale = 16777216.0f;
};

// Adam (Kingma & Ba 2015, end of section 2: the step size carries the bias corrections).
struct AdamConstants {
  float beta1 = 0.5f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
};

enum class RateSchedule { Constant, Linear, Cosine };

// How finish_step moves the learning rate with the applied steps t (a skipped step does not count):
// base * (t + 1) / warmup_steps while t < warmup_steps; then, until decay_steps, from base to
// final_fraction * base along a line or half a cosine (Loshchilov & Hutter 2017, eq. 5). The rate
// of the next step depends on t alone, so that a run that goes on has the same.
struct LearningRateSchedule {
  RateSchedule kind = RateSchedule::Constant;
  float base = 0.0f;
  float final_fraction = 0.0f;
  std::int64_t warmup_steps = 0;
  std::int64_t decay_steps = 0;  // warm-up included
};

// Counter of the random streams; advances once a step on the device.
struct RandomState {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

}  // namespace acgan
