#include "nn/backward_plan.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace acgan {
namespace {

class Planner {
 public:
  explicit Planner(const std::vector<PlannedLayer>& layers)
      : layers_(layers), place_(layers.size()) {}

  BackwardPlan plan() {
    BackwardPlan plan;
    plan.inputs.resize(layers_.size());
    if (!layers_.empty()) place_.back() = kOutputGradient;
    for (std::size_t i = layers_.size(); i-- > 0;) {
      ACGAN_CHECK(place_[i].has_value());  // somebody reads the output
      for (std::size_t k = 0; k < layers_[i].sources.size(); ++k) {
        plan.inputs[i].push_back(step(i, k));
      }
      if (!handed_on_) release(*place_[i]);
      for (const int slot : temporary_) release(slot);
      handed_on_ = false;
      temporary_.clear();
    }
    for (const auto& place : place_) plan.gradient.push_back(*place);
    plan.slots = static_cast<int>(taken_.size());
    return plan;
  }

 private:
  GradientStep step(std::size_t layer, std::size_t input) {
    const int source = layers_[layer].sources[input];
    const bool in_place = layers_[layer].works_in_place && input == 0;
    if (source == kNetworkInput) {
      if (!input_is_written_) {
        input_is_written_ = true;
        return {.place = kInputGradient, .sum = kInputGradient};
      }
      return {.place = take_for_now(), .sum = kInputGradient};
    }
    std::optional<int>& known = place_[static_cast<std::size_t>(source)];
    if (known) return {.place = in_place ? *place_[layer] : take_for_now(), .sum = *known};
    known = in_place ? *place_[layer] : take();
    handed_on_ = handed_on_ || in_place;
    return {.place = *known, .sum = *known};
  }

  int take() {
    auto slot = std::find(taken_.begin(), taken_.end(), false);
    if (slot == taken_.end()) slot = taken_.insert(taken_.end(), false);
    *slot = true;
    return static_cast<int>(slot - taken_.begin());
  }
  int take_for_now() {
    temporary_.push_back(take());
    return temporary_.back();
  }
  void release(int place) {
    if (place >= 0) taken_[static_cast<std::size_t>(place)] = false;
  }

  const std::vector<PlannedLayer>& layers_;
  std::vector<std::optional<int>> place_;  // of each output's gradient, once somebody writes it
  std::vector<bool> taken_;                // by slot
  std::vector<int> temporary_;             // slots of this layer alone
  bool handed_on_ = false;                 // this layer's own gradient became its input's
  bool input_is_written_ = false;
};

}  // namespace

BackwardPlan plan_backward(const std::vector<PlannedLayer>& layers) {
  return Planner(layers).plan();
}

}  // namespace acgan
