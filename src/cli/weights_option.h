#pragma once

#include <string>

#include "cli/option_parser.h"
#include "train/train_state.h"

namespace acgan {

// --weights, as the commands that draw from a checkpoint have it.
inline constexpr const char* kWeightsForm = "average|live";
inline constexpr const char* kWeightsMeaning =
    "the generator's moving average, where the run kept one (train.ema), or its weights as they "
    "are; default average";

// What `--weights text` asks for. Throws Error{Usage} where it is neither.
inline GeneratorWeights checked_weights(const OptionParser& parser, const std::string& text) {
  if (text != "average" && text != "live") {
    parser.reject("--weights must be average or live, found '" + text + "'");
  }
  return text == "live" ? GeneratorWeights::Live : GeneratorWeights::Average;
}

// For the commands' output.
inline const char* weights_text(GeneratorWeights weights) {
  return weights == GeneratorWeights::Average ? "moving average" : "as they are";
}

}  // namespace acgan
