#pragma once

#include <string>
#include <vector>

namespace acgan {

// What a device can do at most.
struct Peak {
  std::string name;
  double tflops_half = 0;  // matrix products in 16 bits, sums in fp32, dense
  double tflops_fp32 = 0;  // without TF32
  double gbs = 0;          // of its memory, 10^9 bytes a second
  bool has_bf16 = true;    // else bf16 is computed on the fp32 units
};

// From the makers' data sheets, at boost clock.
const std::vector<Peak>& known_peaks();

}  // namespace acgan
