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
};

// Lanes of one batch size beside each other, the dearest operation first: milliseconds a step,
// share, GFLOP/s, GB/s, and how many times faster than in the first lane; then the same by kind.
std::string profile_table(const std::vector<LaneProfile>& lanes);

}  // namespace acgan
