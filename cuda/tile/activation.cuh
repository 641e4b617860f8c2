#pragma once

#include "backend/backend.h"
#include "cuda/launch.h"

namespace acgan::cuda {

// A NaN passes through: a fault that is hidden cannot be skipped.
__device__ __forceinline__ float activate(float value, Activation activation) {
  if (activation == Activation::None || !(value < 0.0f)) return value;
  return activation == Activation::Relu ? 0.0f : value * kLeakySlope;
}

// What activation_slope() is at or below zero.
__device__ __forceinline__ float slope_below(Activation activation) {
  if (activation == Activation::None) return 1.0f;
  return activation == Activation::Relu ? 0.0f : kLeakySlope;
}

}  // namespace acgan::cuda
