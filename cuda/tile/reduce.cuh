#pragma once

#include "cuda/launch.h"

// Reductions in a fixed order, so that a sum has the same bits in every run.
namespace acgan::cuda {

inline constexpr unsigned kFullWarp = 0xffffffffu;

template <typename T>
__device__ __forceinline__ T warp_sum(T value) {
#pragma unroll
  for (int bits = 16; bits > 0; bits /= 2) value += __shfl_xor_sync(kFullWarp, value, bits);
  return value;
}

// Sum over a block of whole warps; the result is right in the first warp only. Once a kernel for
// each type.
template <typename T>
__device__ __forceinline__ T block_sum(T value) {
  using Warps = T[32];
  SHARED(Warps, warps);
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return T{};
  return warp_sum(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : T{});
}

}  // namespace acgan::cuda
