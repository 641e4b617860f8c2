#pragma once

#include <atomic>
#include <vector>

#include "base/log.h"
#include "bench/profile.h"
#include "bench/sweep.h"

namespace acgan {

// Measures the operations of training steps of every precision at one batch size, step by step in
// turn, so that drift favours none. Throws Error.
std::vector<LaneProfile> profile_batch(const SweepRequest& request, std::int64_t batch, Log& log,
                                       const std::atomic<int>& signal_received);

}  // namespace acgan
