#pragma once

#include <cstdint>

#include "cuda/launch.h"

// One thread an element, or a few neighbouring ones.
namespace acgan::cuda {

inline constexpr unsigned kElementwiseThreads = 256;
inline const dim3 kElementwiseBlock{kElementwiseThreads, 1, 1};

inline dim3 elementwise_grid(std::int64_t count, int per_thread = 1) {
  const std::int64_t per_block = std::int64_t{kElementwiseThreads} * per_thread;
  return {static_cast<unsigned>((count + per_block - 1) / per_block), 1, 1};
}

__device__ __forceinline__ std::int64_t global_index() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

}  // namespace acgan::cuda
