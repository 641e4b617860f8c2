#pragma once

#include <string>

#include "data/dataset.h"
#include "run/checkpoint.h"
#include "train/train_state.h"

namespace acgan {

// `path` is a checkpoint, or a run directory, which stands for its newest one. Warns on stderr of
// one without a checksum. Throws Error{Output} where there is none.
Checkpoint load_model_checkpoint(const std::string& path);

// Throws Error{Data} where the model draws other classes or images of another size than `real` has.
void check_fits(const ModelFacts& facts, const Dataset& real, const std::string& source);
// Whether these are the images that the checkpoint was trained on; warns on stderr where not.
bool check_is_its_data(const Checkpoint& checkpoint, const Dataset& real,
                       const std::string& fingerprint);

}  // namespace acgan
