#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"
#include "backend/cuda_module.h"
#include "cuda/library/tf32.h"
#include "cuda/scratch.h"

namespace acgan::cuda {

// Who computes convolutions: our kernels or cuDNN. Arguments as in Backend (backend/backend.h),
// already checked.
class Convolutions {
 public:
  virtual ~Convolutions() = default;
  virtual std::string name() const = 0;
  virtual std::string library(DType type) const = 0;  // as Backend::convolution_library
  // Beside the scratch that all operations share.
  virtual std::size_t workspace_bytes() const = 0;
  // As Backend::convolution_note.
  virtual std::string note(const ConvGeometry& geometry, DType type) const = 0;
  virtual void forward(const ConvGeometry& geometry, const Tensor& x, const Tensor& w,
                       const Tensor& bias, Activation activation, const Tensor& y) = 0;
  virtual void backward_data(const ConvGeometry& geometry, const Tensor& dy, const Tensor& w,
                             const Tensor& bias, const Tensor& dx) = 0;
  virtual void backward_weight(const ConvGeometry& geometry, const Tensor& x, const Tensor& dy,
                               const Tensor& dw, Accumulation accumulation) = 0;
};
std::unique_ptr<Convolutions> make_handwritten_convolutions(Device& device, Scratch& scratch);

// What `choice` asks for (backend/cuda_module.h). Throws Error{Device} where that is cuDNN, and
// cuDNN cannot be had.
std::unique_ptr<Convolutions> choose_convolutions(Device& device, Scratch& scratch,
                                                  ConvLibrary choice, Tf32 tf32);

}  // namespace acgan::cuda
