#pragma once

#include "base/host_device.h"
#include "cuda/launch.h"

namespace acgan::cuda {

// Division of numbers below 2^31 by a divisor known at launch: one high multiply, an add and a
// shift (Granlund & Montgomery 1994, "Division by invariant integers using multiplication",
// figure 4.1).
struct FastDivisor {
  unsigned divisor = 1, magic = 1, shift = 0;

  FastDivisor() = default;
  explicit FastDivisor(int value) : divisor(static_cast<unsigned>(value)) {
    while ((1ull << shift) < divisor) ++shift;
    magic = static_cast<unsigned>((((1ull << shift) - divisor) << 32) / divisor + 1);
  }

  __device__ __forceinline__ int quotient(int n) const {
    const auto value = static_cast<unsigned>(n);
    return static_cast<int>((__umulhi(value, magic) + value) >> shift);
  }
  __device__ __forceinline__ int remainder(int n, int quotient) const {
    return n - quotient * static_cast<int>(divisor);
  }
};

}  // namespace acgan::cuda
