#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace acgan::gemm {

// A bias [C] of any storage type as floats; no data where there is no bias.
class WidenedBias {
 public:
  explicit WidenedBias(const Tensor& bias) {
    if (!bias) return;
    values_.resize(static_cast<std::size_t>(bias.count()));
    visit_dtype(bias.dtype, [&]<typename T>(T) {
      const T* source = bias.as<T>();
      for (float& value : values_) value = to_float(*source++);
    });
  }

  const float* data() const { return values_.empty() ? nullptr : values_.data(); }

 private:
  std::vector<float> values_;
};

}  // namespace acgan::gemm
