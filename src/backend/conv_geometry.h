#pragma once

#include <cstdint>

namespace acgan {

// One square convolution: x [N,in_h,in_w,in_c] -> y [N,out_h,out_w,out_c], weights
// [out_c,kernel,kernel,in_c]. A transposed convolution is the same geometry read backwards: its
// input is y, its output x, its weights [in,kernel,kernel,out] are the same array.
struct ConvGeometry {
  std::int64_t in_h = 0, in_w = 0, in_c = 0;
  std::int64_t out_h = 0, out_w = 0, out_c = 0;
  std::int64_t kernel = 4, stride = 2, pad = 1;

  bool operator==(const ConvGeometry&) const = default;
};

}  // namespace acgan
