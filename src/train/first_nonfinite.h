#pragma once

#include <string>

#include "train/train_step.h"

namespace acgan {

// Where the numbers of the last step first went wrong, for the message that ends a run: the first
// layer in the order of the forward passes whose output holds Inf or NaN, and whether its own
// weights do; where every output is finite, the first such gradient on the way back. "" where
// everything is finite. Reads all of it from the device: for a run that ends anyway.
std::string first_nonfinite(const TrainStep& step);

}  // namespace acgan
