#include "bench/peak.h"

namespace acgan {

// NVIDIA's data sheets of the single products; the SXM form where there are two.
const std::vector<Peak>& known_peaks() {
  static const std::vector<Peak> kPeaks{
      {"P100", 21.2, 10.6, 732, false},  // no tensor cores: pairs of fp16 on the fp32 units
      {"V100", 125, 15.7, 900, false},  {"T4", 65, 8.1, 320, false},
      {"L4", 121, 30.3, 300},           {"A100", 312, 19.5, 2039},  // 80 GB
      {"H100", 989, 67, 3350},          {"H200", 989, 67, 4800},
  };
  return kPeaks;
}

}  // namespace acgan
