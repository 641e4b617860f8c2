#pragma once

#include <cstdint>
#include <optional>

#include "train/train_step.h"

namespace acgan {

// The first of batch / 2, batch / 4, ..., 2 with which such a step, and sampling from it, fits the
// memory that `backend` has left; none where not even 2 images do. Asks for that memory, so it
// takes as long as the allocation of a step does.
std::optional<std::int64_t> fitting_batch(Backend& backend, const TrainStepOptions& options);

// A step of these options. Where it does not fit into memory, the Error{Device} names a batch size
// that does.
TrainStep make_train_step(Backend& backend, const TrainStepOptions& options);

}  // namespace acgan
