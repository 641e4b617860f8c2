#pragma once

#include <string>
#include <vector>

#include "train/train_step.h"

namespace acgan {

// What a training step of these options holds in memory, found without allocating it. The workspace
// of operations is not in it: it shows when a step has run.
std::vector<MemoryShare> plan_memory(const TrainStepOptions& options);

std::size_t total_bytes(const std::vector<MemoryShare>& shares);

// A table, one line a purpose: fp32 beside mixed precision with `half`, and how much mixed saves.
std::string memory_plan_text(const TrainStepOptions& options, DType half);

}  // namespace acgan
