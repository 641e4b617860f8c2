#pragma once

#include <type_traits>

#include "backend/backend.h"
#include "backend/cpu/vector_load.h"

namespace acgan::cpu {

// Calls `visitor` with the activation as a compile-time constant.
template <typename Visitor>
void visit_activation(Activation activation, const Visitor& visitor) {
  switch (activation) {
    case Activation::None:
      return visitor(std::integral_constant<Activation, Activation::None>{});
    case Activation::Relu:
      return visitor(std::integral_constant<Activation, Activation::Relu>{});
    case Activation::LeakyRelu:
      return visitor(std::integral_constant<Activation, Activation::LeakyRelu>{});
  }
  ACGAN_CHECK(!"known activation");
}

// A NaN passes through every activation: a fault that is hidden cannot be skipped.
template <Activation kActivation>
Float8 activate(Float8 input) {
  if constexpr (kActivation == Activation::Relu) return input < 0.0f ? Float8{} : input;
  if constexpr (kActivation == Activation::LeakyRelu) {
    return input < 0.0f ? kLeakySlope * input : input;
  }
  return input;
}

// `gradient` times the slope of the activation, which the sign of its input or output tells. A
// product also where the slope is 0, so that a gradient that is not finite stays visible.
template <Activation kActivation>
Float8 activation_gradient(Float8 input, Float8 gradient) {
  if constexpr (kActivation == Activation::Relu) {
    return gradient * (input > 0.0f ? broadcast(1.0f) : Float8{});
  }
  if constexpr (kActivation == Activation::LeakyRelu) {
    return gradient * (input > 0.0f ? broadcast(1.0f) : broadcast(kLeakySlope));
  }
  return gradient;
}

}  // namespace acgan::cpu
