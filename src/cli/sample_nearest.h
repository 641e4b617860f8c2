#pragma once

#include <string>

#include "cli/command_line.h"
#include "cli/sample_target.h"
#include "run/checkpoint.h"
#include "train/train_state.h"

namespace acgan {

// Each image with the training image nearest to it on its right.
struct NearestGrid {
  ImageGrid grid;       // twice as many columns
  std::string summary;  // how much they differ, and how much real images do: lines for stdout
};

// `fakes` of the checkpoint's generator beside images of the data that its config (or --data)
// names. Throws Error{Data} where that cannot be read or is of other classes or another size; warns
// on stderr where it is not what the generator was trained on.
NearestGrid pair_with_nearest(const ImageGrid& fakes, const Checkpoint& checkpoint,
                              const ModelFacts& facts, const SampleCommand& command);

}  // namespace acgan
