#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "cuda/stream.h"
#include "cuda/tile_choice.h"

// The launchers of our convolution kernels; handwritten_convolutions.cpp chooses among them.
// Tensors as in Backend's operations of the same name.
namespace acgan::cuda {

struct ConvForward {
  ConvGeometry geometry;
  Tensor x, w, bias;
  Activation activation = Activation::None;
  Tensor y;
};
struct ConvBackwardData {
  ConvGeometry geometry;
  Tensor dy, w, bias, dx;
};
// Partial sums of the weight gradient over ranges of output pixels: F32 [splits, out_c,k,k,in_c].
struct ConvBackwardWeight {
  ConvGeometry geometry;
  Tensor x, dy;
  float* partials = nullptr;
  int splits = 1;
};

// ---- kernels/conv_forward.cu, conv_backward_data.cu, conv_backward_weight.cu: tensor cores; F16
// (sm_75), F16 and BF16 (sm_80 and newer)
void launch_conv_forward(const ConvForward& call, const TileChoice& choice, Stream stream);
void launch_conv_backward_data(const ConvBackwardData& call, const TileChoice& choice,
                               Stream stream);
void launch_conv_backward_weight(const ConvBackwardWeight& call, const TileChoice& choice,
                                 Stream stream);

// ---- kernels/conv_thin_backward_data.cu: few input channels; F16 and BF16 as above
// Whether taps and a band of the image fit into `shared_limit` bytes of shared memory.
bool thin_backward_data_fits(const ConvGeometry& geometry, std::size_t shared_limit);
void launch_conv_thin_backward_data(const ConvBackwardData& call, Stream stream);

// ---- kernels/conv_split_sum.cu: dw = (or +=) the sum of the partials, in order
void launch_conv_split_sum(const float* partials, int splits, const Tensor& dw,
                           Accumulation accumulation, Stream stream);

// ---- kernels/conv_cuda_cores.cu: no tensor cores; any type, any architecture
void launch_conv_forward_cuda_cores(const ConvForward& call, Stream stream);
void launch_conv_backward_data_cuda_cores(const ConvBackwardData& call, Stream stream);
void launch_conv_backward_weight_cuda_cores(const ConvBackwardWeight& call, Stream stream);

}  // namespace acgan::cuda
