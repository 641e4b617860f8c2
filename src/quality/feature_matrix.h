#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

#include "base/check.h"

namespace acgan {

using FeatureMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// features [N, width] in double, for sums that must not lose digits.
inline FeatureMatrix feature_matrix(std::span<const float> features, std::int64_t width) {
  ACGAN_CHECK(width > 0 && static_cast<std::int64_t>(features.size()) % width == 0);
  const auto rows = static_cast<std::int64_t>(features.size()) / width;
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Floats>(features.data(), rows, width).cast<double>();
}

}  // namespace acgan
