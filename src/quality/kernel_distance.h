#pragma once

#include <cstdint>
#include <span>

namespace acgan {

// The kernel distance of two sets of features over random subsets.
struct KernelDistance {
  double mean = 0;
  double spread = 0;  // standard deviation over the subsets
  std::int64_t subsets = 0, subset_size = 0;
};

// Squared maximum mean discrepancy of x [M, width] and y [N, width] with the kernel
// (x.y / width + 1)^3, unbiased (Gretton et al. 2012, lemma 6; Binkowski et al. 2018, KID): may be
// below zero. M and N at least 2.
double unbiased_kernel_distance(std::span<const float> x, std::span<const float> y,
                                std::int64_t width);

// Its mean over 50 pairs of subsets, drawn without replacement and by the seed, of 1000 rows each,
// or of half the smaller set where that is less. At least 4 rows in each set.
KernelDistance kernel_distance(std::span<const float> x, std::span<const float> y,
                               std::int64_t width, std::uint64_t seed);

}  // namespace acgan
