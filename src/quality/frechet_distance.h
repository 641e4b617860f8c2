#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace acgan {

// A normal distribution fitted to features.
struct FeatureMoments {
  std::int64_t width = 0;
  std::vector<double> mean;        // [width]
  std::vector<double> covariance;  // [width, width], unbiased (divisor N - 1)
};

// features [N, width], N at least 2.
FeatureMoments moments_of(std::span<const float> features, std::int64_t width);

// |m1 - m2|^2 + tr(S1 + S2 - 2 (S1 S2)^1/2), the squared Frechet distance of two normal
// distributions (Dowson & Landau 1982), which Heusel et al. 2017 (FID) apply to features.
double frechet_distance(const FeatureMoments& a, const FeatureMoments& b);

}  // namespace acgan
