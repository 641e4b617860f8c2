#include "quality/kernel_distance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "backend/philox.h"
#include "quality/feature_matrix.h"
#include "quality/parallel_tasks.h"

namespace acgan {
namespace {

constexpr std::int64_t kSubsets = 50;
constexpr std::int64_t kMostRows = 1000;

Eigen::MatrixXd kernel(const FeatureMatrix& x, const FeatureMatrix& y) {
  const Eigen::MatrixXd product = x * y.transpose();
  return (product.array() / static_cast<double>(x.cols()) + 1.0).cube().matrix();
}

// Over pairs of different rows.
double mean_within(const FeatureMatrix& x) {
  const Eigen::MatrixXd k = kernel(x, x);
  const auto n = static_cast<double>(x.rows());
  return (k.sum() - k.trace()) / (n * (n - 1));
}

double unbiased(const FeatureMatrix& x, const FeatureMatrix& y) {
  ACGAN_CHECK(x.rows() >= 2 && y.rows() >= 2 && x.cols() == y.cols());
  return mean_within(x) + mean_within(y) - 2 * kernel(x, y).mean();
}

// The first `count` of a random order of the rows.
std::vector<std::int64_t> draw(std::int64_t rows, std::int64_t count, PhiloxSequence& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto rest = static_cast<std::uint32_t>(rows - i);
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(i + random.next_below(rest))]);
  }
  order.resize(static_cast<std::size_t>(count));
  return order;
}

}  // namespace

double unbiased_kernel_distance(std::span<const float> x, std::span<const float> y,
                                std::int64_t width) {
  return unbiased(feature_matrix(x, width), feature_matrix(y, width));
}

KernelDistance kernel_distance(std::span<const float> x, std::span<const float> y,
                               std::int64_t width, std::uint64_t seed) {
  const FeatureMatrix all_x = feature_matrix(x, width), all_y = feature_matrix(y, width);
  const std::int64_t smaller = std::min(all_x.rows(), all_y.rows());
  ACGAN_CHECK(smaller >= 4);
  KernelDistance result{.subsets = kSubsets, .subset_size = std::min(kMostRows, smaller / 2)};
  std::vector<double> distances(static_cast<std::size_t>(kSubsets));
  for_each_task(kSubsets, [&](std::int64_t subset) {
    PhiloxSequence random(seed, RandomStream::Selection, static_cast<std::uint64_t>(subset));
    const FeatureMatrix part_x = all_x(draw(all_x.rows(), result.subset_size, random), Eigen::all);
    const FeatureMatrix part_y = all_y(draw(all_y.rows(), result.subset_size, random), Eigen::all);
    distances[static_cast<std::size_t>(subset)] = unbiased(part_x, part_y);
  });
  const Eigen::Map<const Eigen::ArrayXd> values(distances.data(), kSubsets);
  result.mean = values.mean();
  result.spread =
      std::sqrt((values - result.mean).square().sum() / static_cast<double>(kSubsets - 1));
  return result;
}

}  // namespace acgan
