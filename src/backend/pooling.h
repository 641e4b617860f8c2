#pragma once

#include "tensor/tensor.h"

namespace acgan {

// What pool2 and unpool2 take: [N,H,W,C] and [N,ceil(H/2),ceil(W/2),C].
inline void check_pooling(const Tensor& large, const Tensor& small) {
  ACGAN_CHECK(large.shape.rank() == 4 && large.dtype == small.dtype);
  const Shape halved{large.shape[0], (large.shape[1] + 1) / 2, (large.shape[2] + 1) / 2,
                     large.shape[3]};
  ACGAN_CHECK(small.shape == halved);
}

}  // namespace acgan
