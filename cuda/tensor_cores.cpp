#include "cuda/probe.h"

namespace acgan::cuda {

std::string tensor_core_text(int arch) {
  if (arch >= 80) return "tensor cores for fp16 and bf16: --precision mixed computes in 16 bits";
  if (arch >= 75) {
    return "tensor cores for fp16: --precision mixed computes in 16 bits (bf16 is storage only)";
  }
  if (arch == 70 || arch == 72) {
    return "tensor cores that our kernels do not use: mixed halves memory traffic only";
  }
  return "no tensor cores: mixed halves memory and traffic, and computes no faster";
}

}  // namespace acgan::cuda
