#pragma once

#include "cuda/launch.h"
#include "tensor/half.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

// Storage types to float and back, as the device does it: round to nearest even.
namespace acgan::cuda {

#if defined(__CUDACC__)
__device__ __forceinline__ float widen(float value) { return value; }
__device__ __forceinline__ float widen(Half value) {
  return __half2float(__ushort_as_half(value.bits));
}
__device__ __forceinline__ float widen(BFloat16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}
template <typename T>
__device__ __forceinline__ T narrow(float value) {
  if constexpr (std::is_same_v<T, Half>) {
    return Half{__half_as_ushort(__float2half_rn(value))};
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat16{__bfloat16_as_ushort(__float2bfloat16_rn(value))};
  } else {
    return value;
  }
}
#else
template <typename T>
float widen(T value) {
  return to_float(value);
}
template <typename T>
T narrow(float value) {
  return from_float<T>(value);
}
#endif

}  // namespace acgan::cuda
