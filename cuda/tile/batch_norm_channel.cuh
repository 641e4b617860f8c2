#pragma once

#include "cuda/tile/activation.cuh"

// What a batch norm's kernels know of a channel. Forward and backward compute the output alike, so
// that they agree on its sign.
namespace acgan::cuda {

struct ChannelArrays {
  const float *gamma, *beta, *mean, *variance;
  Activation activation;
};

struct Channel {
  float mean, scale, beta;  // output = (x - mean) * scale + beta

  __device__ __forceinline__ float output(float x) const { return (x - mean) * scale + beta; }
};

// One Newton step on the processor's estimate: as good as a division and a root, and cheaper.
__device__ __forceinline__ float inverse_deviation(float variance) {
  const float value = variance + kBatchNormEpsilon;
  const float estimate = rsqrtf(value);
  return estimate + 0.5f * estimate * (1.0f - value * estimate * estimate);
}

__device__ __forceinline__ Channel channel_of(const ChannelArrays& arrays, int c) {
  return {arrays.mean[c], arrays.gamma[c] * inverse_deviation(arrays.variance[c]), arrays.beta[c]};
}

}  // namespace acgan::cuda
