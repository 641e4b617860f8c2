#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "quality/kernel_distance.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

std::vector<float> features(std::int64_t count, unsigned seed, double low = -1, double high = 1) {
  const std::vector<double> values = random_values(count, seed, low, high);
  return {values.begin(), values.end()};
}

double kernel(const std::vector<float>& x, std::int64_t i, const std::vector<float>& y,
              std::int64_t j, std::int64_t width) {
  double product = 0;
  for (std::int64_t k = 0; k < width; ++k) {
    product += double{x[i * width + k]} * double{y[j * width + k]};
  }
  return std::pow(product / static_cast<double>(width) + 1, 3);
}

// The definition, pair by pair.
double reference(const std::vector<float>& x, const std::vector<float>& y, std::int64_t width) {
  const auto m = static_cast<std::int64_t>(x.size()) / width;
  const auto n = static_cast<std::int64_t>(y.size()) / width;
  double xx = 0, yy = 0, xy = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < m; ++j) xx += i == j ? 0 : kernel(x, i, x, j, width);
    for (std::int64_t j = 0; j < n; ++j) xy += kernel(x, i, y, j, width);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) yy += i == j ? 0 : kernel(y, i, y, j, width);
  }
  const auto a = static_cast<double>(m), b = static_cast<double>(n);
  return xx / (a * (a - 1)) + yy / (b * (b - 1)) - 2 * xy / (a * b);
}

TEST_CASE("the kernel distance is its definition, pair by pair") {
  const std::int64_t width = 5;
  const auto x = features(7 * width, 1), y = features(12 * width, 2, -0.5, 1.5);
  CHECK(unbiased_kernel_distance(x, y, width) == Approx(reference(x, y, width)).epsilon(1e-10));
  CHECK(unbiased_kernel_distance(y, x, width) == Approx(reference(x, y, width)).epsilon(1e-10));
}

TEST_CASE("the kernel distance of one distribution is zero on average, whatever the sample size") {
  const std::int64_t width = 4;
  double sum = 0, squares = 0;
  const int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {  // so small that a biased one would be far off
    const auto x = features(6 * width, static_cast<unsigned>(2 * trial + 1));
    const auto y = features(6 * width, static_cast<unsigned>(2 * trial + 2));
    const double distance = unbiased_kernel_distance(x, y, width);
    sum += distance;
    squares += distance * distance;
  }
  const double mean = sum / trials;
  const double error = std::sqrt(squares / trials / trials);
  CHECK(std::abs(mean) < 4 * error);
  // The biased estimate adds the terms k(x,x) and k(y,y) left out above, about 1/6 each.
  CHECK(error < 0.02);
}

TEST_CASE("subsets give the kernel distance with its spread, reproducibly") {
  const std::int64_t width = 8;
  const auto x = features(300 * width, 3), y = features(200 * width, 4);
  const auto moved = features(200 * width, 5, -0.2, 1.8);
  const KernelDistance same = kernel_distance(x, y, width, 1);
  CHECK(same.subsets == 50);
  CHECK(same.subset_size == 100);
  CHECK(same.spread > 0);
  CHECK(std::abs(same.mean) < 3 * same.spread);
  const KernelDistance apart = kernel_distance(x, moved, width, 1);
  CHECK(apart.mean > 10 * apart.spread);
  CHECK(apart.mean == Approx(unbiased_kernel_distance(x, moved, width)).epsilon(0.1));
  CHECK(kernel_distance(x, moved, width, 1).mean == apart.mean);
  CHECK(kernel_distance(x, moved, width, 2).mean != apart.mean);
}

}  // namespace
}  // namespace acgan::test
