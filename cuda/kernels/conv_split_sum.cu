#include "cuda/convolution_kernels.h"
#include "cuda/tile/elementwise.cuh"

namespace acgan::cuda {
namespace {

// Bound by reading the partials once.
__global__ void conv_split_sum_kernel(const float* partials, int splits, std::int64_t count,
                                      Accumulation accumulation, float* dw) {
  const std::int64_t i = global_index();
  if (i >= count) return;
  float sum = accumulation == Accumulation::Add ? dw[i] : 0.0f;
  for (int split = 0; split < splits; ++split) sum += partials[split * count + i];
  dw[i] = sum;
}

}  // namespace

void launch_conv_split_sum(const float* partials, int splits, const Tensor& dw,
                           Accumulation accumulation, Stream stream) {
  launch(conv_split_sum_kernel, elementwise_grid(dw.count()), kElementwiseBlock, 0, stream,
         partials, splits, dw.count(), accumulation, dw.as<float>());
}

}  // namespace acgan::cuda
