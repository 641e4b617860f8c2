#include "base/error.h"
#include "cuda/library/convolution_library.h"

namespace acgan::cuda {

std::unique_ptr<ConvolutionLibrary> open_convolution_library(Device&, Scratch&, Tf32) {
  fail(ErrorKind::Device, "cuDNN cannot be used: this program was built without its headers");
}

}  // namespace acgan::cuda
