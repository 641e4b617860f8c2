#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "run/checkpoint.h"
#include "train/train_step.h"

namespace acgan {

// What a run is trained on, as far as its checkpoints know it.
struct DataFacts {
  std::vector<std::string> class_names;  // by label
  std::vector<std::int64_t> counts;      // images by label
  std::string kind;                      // as in data.kind
  std::string fingerprint;               // of pixels, labels and names
};

// The metadata by which a checkpoint is known: facts of the model and of the data.
std::map<std::string, std::string> identity_texts(const TrainStep& step, const DataFacts& data);

// The model that a checkpoint is of; study for those from before there was a choice. Throws
// Error{Output} where it names another.
ModelPreset preset_of(const Checkpoint& checkpoint);

// Throws Error{Output} with the list of all differences where the checkpoint is of another model,
// class list, data set, precision or objective. Duration, cadence and batch may differ.
void refuse_differences(const Checkpoint& checkpoint, const TrainStep& step, const DataFacts& data);

}  // namespace acgan
