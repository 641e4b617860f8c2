#pragma once

#include "model/acgan.h"

namespace acgan {

struct EmaOptions {
  float decay = 0.0f;     // a step; 0: no average is kept
  float ramp_up = 10.0f;  // steps; see Backend::ema_step
};

// The exponential moving average of a generator's weights and running statistics, as a network of
// its own ("ema.generator" in checkpoints).
class GeneratorAverage {
 public:
  GeneratorAverage(Backend& backend, const AcganShape& shape, DType compute,
                   const EmaOptions& options);

  void start_from(const Network& generator);
  // Takes in what an optimiser just made of the generator; nothing where `state` says nonfinite.
  void advance(const Network& generator, const OptimizerState* state);
  // The working copy follows the average, which advance() leaves to whoever draws with it.
  void refresh() { network_.parameters().refresh_working(); }

  Network& network() { return network_; }
  const Network& network() const { return network_; }

 private:
  EmaOptions options_;
  Network network_{"ema.generator"};
};

}  // namespace acgan
