#pragma once

#include <cstdint>

#include "cuda/emulation/instructions.h"
#include "cuda/emulation/machine.h"

// CUDA's own words for a plain C++ compiler, as far as our kernels use them: kernels compiled with
// this header run on the emulated machine. No CUDA toolkit is needed.

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ use_SHARED_or_SharedArena_instead  // a per-fiber array would be silently wrong

using acgan::emulation::blockDim;
using acgan::emulation::blockIdx;
using acgan::emulation::dim3;
using acgan::emulation::gridDim;
using acgan::emulation::threadIdx;

struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }

inline void __syncthreads(ACGAN_EMULATION_SITE) { acgan::emulation::barrier(site); }
inline void __syncwarp(unsigned mask = ~0u) { acgan::emulation::sync_warp(mask); }

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits) {
  return acgan::emulation::shuffle(mask, value,
                                   acgan::emulation::lane_id() ^ static_cast<unsigned>(bits));
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return acgan::emulation::ballot(mask, predicate != 0);
}
inline int __syncthreads_or(int predicate, ACGAN_EMULATION_SITE) {
  return acgan::emulation::barrier_or(predicate != 0, site) ? 1 : 0;
}
unsigned __activemask() = delete;  // depends on the hardware's own reconvergence

// The atomics are real ones, so that a thread sanitizer sees them as such.
inline int atomicAdd(int* address, int value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
inline int atomicOr(int* address, int value) {
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a < b ? b : a; }
template <class T>
void __stwb(T* address, T value) {
  *address = value;
}
inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} * b) >> 32);
}
