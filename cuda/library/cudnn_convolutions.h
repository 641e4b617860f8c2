#pragma once

#include <memory>

#include "cuda/convolutions.h"
#include "cuda/library/convolution_library.h"

namespace acgan::cuda {

// Convolutions by `library`; what it does not offer (bias, activation, an F32 gradient of 16-bit
// weights) comes from small kernels after it. Views that the library cannot take, because they do
// not start on a multiple of 16 bytes, go to `unaligned`, which must outlive this.
std::unique_ptr<Convolutions> make_cudnn_convolutions(Device& device,
                                                      std::unique_ptr<ConvolutionLibrary> library,
                                                      Convolutions& unaligned);

}  // namespace acgan::cuda
