#pragma once

#include <string>
#include <vector>

#include "backend/profiling_backend.h"
#include "bench/peak.h"

namespace acgan {

// The least time that an operation can take on a device of such a peak.
struct FloorTime {
  double seconds = 0;
  bool by_compute = false;  // bound by arithmetic, else by memory
};
FloorTime floor_time(const OperationTotals& operation, DType compute, const Peak& peak);

// Layer by layer and operation by operation: calls in a step, FLOPs, bytes and the time at each
// peak, with the sums for the step. `compute`: what matrix products are computed in.
std::string floors_table(const std::vector<OperationTotals>& operations, DType compute,
                         const std::vector<Peak>& peaks);

}  // namespace acgan
