#pragma once

#include "bench/bench.h"

namespace acgan::test {

// A model so small that a step takes a millisecond, on the built-in data; rows end after
// milliseconds.
inline SweepRequest small_sweep() {
  SweepRequest sweep;
  Config& config = sweep.config;
  config.name = "small";
  config.data.image_size = 8;
  config.data.doodles_per_class = 4;
  config.model = {
      .latent_dim = 3, .dense_width = 8, .conv1_width = 8, .conv2_width = 8, .classifier_width = 5};
  config.precision.loss_scale = 1;  // so small a network overflows with more
  config.train.device = "packed";
  config.train.threads = 1;
  sweep.batches = {4};
  sweep.choices = {{.mode = PrecisionMode::Fp32},
                   {.mode = PrecisionMode::Mixed, .half = HalfType::Fp16}};
  sweep.limits = {.warmup = 3, .min_seconds = 0, .max_seconds = 0.02, .spread = 0.02};
  return sweep;
}

}  // namespace acgan::test
