#pragma once

#include <string>

#include "run/checkpoint.h"

namespace acgan {

// `path` is a checkpoint, or a run directory, which stands for its newest one. Throws Error{Output}
// where there is none.
Checkpoint load_model_checkpoint(const std::string& path);

}  // namespace acgan
