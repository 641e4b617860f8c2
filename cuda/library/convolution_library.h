#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"
#include "cuda/library/tf32.h"
#include "cuda/scratch.h"

namespace acgan::cuda {

enum class ConvDirection { Forward, BackwardData, BackwardWeight };

// A convolution as a library computes it: x, w, y of one dtype, shapes as in Backend, FP32
// accumulation, no bias, no activation. The direction says which of the three is the result; the
// other two are read.
struct LibraryConvolution {
  ConvDirection direction = ConvDirection::Forward;
  ConvGeometry geometry;
  Tensor x, w, y;
  Accumulation accumulation = Accumulation::Overwrite;  // Add: BackwardWeight only
};

// Convolutions: cuDNN on a GPU, plain loops on the emulated device. Tensors start on a multiple of
// kLibraryAlignment bytes.
inline constexpr std::size_t kLibraryAlignment = 16;

class ConvolutionLibrary {
 public:
  virtual ~ConvolutionLibrary() = default;
  virtual std::string name() const = 0;
  virtual void run(const LibraryConvolution& call) = 0;
};
// Workspace comes from `scratch`. Throws Error{Device} where the library is not there or refuses
// the device, saying why.
std::unique_ptr<ConvolutionLibrary> open_convolution_library(Device& device, Scratch& scratch,
                                                             Tf32 tf32);

}  // namespace acgan::cuda
