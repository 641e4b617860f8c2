#pragma once

#include <vector>

namespace acgan {

// What layers read: the output of an earlier layer, by its number, or the network's input.
inline constexpr int kNetworkInput = -1;

// What planning needs to know of a layer.
struct PlannedLayer {
  std::vector<int> sources;  // what its inputs are: earlier layers, or kNetworkInput
  bool works_in_place = false;
};

// Places of gradients that are no slot of the scratch memory.
inline constexpr int kOutputGradient = -1;  // where the gradient of the network's output lies
inline constexpr int kInputGradient = -2;   // where that of its input is wanted

// Where a layer writes the gradient of one of its inputs.
struct GradientStep {
  int place = 0;  // slot, kOutputGradient or kInputGradient; its own dy where it works in place
  // The slot (or other place) of what other readers have written already and this is added to; the
  // same as `place`: nothing was.
  int sum = 0;

  bool adds() const { return sum != place; }
};

// Where gradients lie while a network runs backward, from its last layer to its first. A gradient
// lives from the first reader that writes it (the last in order) until its own layer has read it;
// each gets the first slot that is free then.
struct BackwardPlan {
  std::vector<int> gradient;                      // place of the output's gradient, by layer
  std::vector<std::vector<GradientStep>> inputs;  // by layer and input
  int slots = 0;
};

// `layers` in order. Every output but the last must be read.
BackwardPlan plan_backward(const std::vector<PlannedLayer>& layers);

}  // namespace acgan
