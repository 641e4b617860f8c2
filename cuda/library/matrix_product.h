#pragma once

#include <memory>

#include "backend/backend.h"
#include "cuda/device.h"
#include "cuda/library/tf32.h"

namespace acgan::cuda {

enum class Layout { Plain, Transposed };

// c [M,N] (+)= op(a) op(b), row-major, FP32 accumulation; a and b of one dtype, c of that dtype or
// F32. op(a) is [M,K]: `a` as it lies, or the transpose of an `a` stored [K,M]. Likewise b.
struct MatrixProduct {
  Tensor a, b;
  Layout a_layout = Layout::Plain, b_layout = Layout::Plain;
  Tensor c;
  Accumulation accumulation = Accumulation::Overwrite;
};

// Dense layers: cuBLAS on a GPU, plain loops on the emulated device.
class MatrixLibrary {
 public:
  virtual ~MatrixLibrary() = default;
  virtual std::string name() const = 0;
  virtual std::size_t workspace_bytes() const = 0;
  virtual void multiply(const MatrixProduct& product) = 0;
};
std::unique_ptr<MatrixLibrary> open_matrix_library(Device& device, Tf32 tf32);

}  // namespace acgan::cuda
