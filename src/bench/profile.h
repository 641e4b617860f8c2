#pragma once

#include <string>
#include <vector>

#include "backend/profiling_backend.h"

namespace acgan {

// What one lane's steps were spent on.
struct LaneProfile {
  std::string label;  // "fp32", "mixed bf16"
  std::int64_t steps = 0;
  std::vector<OperationTotals> operations;
  PhaseProfile phases;
  double step_seconds = 0;     // of a step, with what goes on between operations
  double sampling_share = 0;   // seconds of sampling for each second of training
  double logging_seconds = 0;  // of writing a step's row
};

// Lanes of one batch size beside each other, the dearest operation first: milliseconds a step,
// share, GFLOP/s, GB/s, and how many times faster than in the first lane; then the same by kind and
// by phase of training.
std::string profile_table(const std::vector<LaneProfile>& lanes);

}  // namespace acgan
