#pragma once

#include <vector>

#include "backend/profiling_backend.h"
#include "train/train_step.h"

namespace acgan {

// Tells `profile` which memory of `step` belongs to which layer ("discriminator.conv1"), and what
// to a whole network ("discriminator").
void name_layers(ProfilingBackend& profile, const TrainStep& step);

// What one training step asks a backend for, in the order in which it first does, without a device:
// calls, FLOPs and the bytes that must be moved at least. Seconds mean nothing.
std::vector<OperationTotals> step_operations(const TrainStepOptions& options);

}  // namespace acgan
