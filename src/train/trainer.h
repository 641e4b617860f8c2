#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "base/log.h"
#include "config/config.h"

namespace acgan {

struct TrainRequest {
  Config config;
  std::optional<std::string> resume;  // "latest", a checkpoint file or a run directory
  bool dry_run = false;  // check everything, run one step, print the plan, write nothing
  bool profile = false;  // print time by operation at the end
};

// How a run ended, as the exit code it maps to.
enum class RunEnd { Done = 0, HungUp = 129, Interrupted = 130, Terminated = 143 };

// Trains from a request to the end of its time, writing a run directory. `signal_received` holds
// the number of the signal that asked for an orderly end, or 0; it is looked at after every step.
// Throws Error.
RunEnd run_training(const TrainRequest& request, Log& log, const std::atomic<int>& signal_received);

}  // namespace acgan
