#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "quality/frechet_distance.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

std::vector<float> random_features(std::int64_t count, unsigned seed) {
  const std::vector<double> values = random_values(count, seed);
  return {values.begin(), values.end()};
}

// A random orthogonal matrix [n,n], by Gram-Schmidt.
std::vector<double> rotation(std::int64_t n, unsigned seed) {
  std::vector<double> q = random_values(n * n, seed);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      double product = 0;
      for (std::int64_t k = 0; k < n; ++k) product += q[i * n + k] * q[j * n + k];
      for (std::int64_t k = 0; k < n; ++k) q[i * n + k] -= product * q[j * n + k];
    }
    double square = 0;
    for (std::int64_t k = 0; k < n; ++k) square += q[i * n + k] * q[i * n + k];
    for (std::int64_t k = 0; k < n; ++k) q[i * n + k] /= std::sqrt(square);
  }
  return q;
}

// Q^T diag(d) Q
std::vector<double> with_eigenvalues(const std::vector<double>& q, const std::vector<double>& d) {
  const std::size_t n = d.size();
  std::vector<double> result(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) result[i * n + j] += q[k * n + i] * d[k] * q[k * n + j];
    }
  }
  return result;
}

TEST_CASE("feature moments are the mean and the unbiased covariance") {
  const FeatureMoments moments = moments_of(std::vector<float>{1, 2, 3, 6, 5, 4}, 2);
  CHECK(moments.mean == std::vector<double>{3, 4});
  CHECK(moments.covariance == std::vector<double>{4, 2, 2, 4});
}

TEST_CASE("the Frechet distance of one-dimensional normal distributions is known") {
  // (m1 - m2)^2 + (s1 - s2)^2
  const FeatureMoments a{.width = 1, .mean = {1}, .covariance = {9}};
  const FeatureMoments b{.width = 1, .mean = {-1}, .covariance = {0.25}};
  CHECK(frechet_distance(a, b) == Approx(4 + 2.5 * 2.5));
  CHECK(frechet_distance(b, a) == Approx(4 + 2.5 * 2.5));
}

TEST_CASE("the Frechet distance of covariances that commute is that of their eigenvalues") {
  const std::int64_t n = 9;
  const std::vector<double> q = rotation(n, 1);
  const std::vector<double> mean_a = random_values(n, 2), mean_b = random_values(n, 3);
  std::vector<double> of_a = random_values(n, 4, 0.0, 4.0), of_b = random_values(n, 5, 0.0, 4.0);
  of_a[0] = 0;  // no spread in some direction, as with few samples; its root rounds to 1e-8
  of_b[1] = 0;
  double expected = 0;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    expected += std::pow(mean_a[i] - mean_b[i], 2);
    expected += std::pow(std::sqrt(of_a[i]) - std::sqrt(of_b[i]), 2);
  }
  const FeatureMoments a{.width = n, .mean = mean_a, .covariance = with_eigenvalues(q, of_a)};
  const FeatureMoments b{.width = n, .mean = mean_b, .covariance = with_eigenvalues(q, of_b)};
  CHECK(frechet_distance(a, b) == Approx(expected).epsilon(1e-7));
}

TEST_CASE("the Frechet distance of 2x2 covariances that do not commute is known") {
  // tr (S1 S2)^1/2 = sqrt(tr(S1 S2) + 2 sqrt(det(S1 S2))) for positive 2x2 matrices
  const FeatureMoments a{.width = 2, .mean = {0, 0}, .covariance = {2, 1, 1, 3}};
  const FeatureMoments b{.width = 2, .mean = {0, 2}, .covariance = {5, -2, -2, 1}};
  const double trace = 2 * 5 + 2 * 1 * -2 + 3 * 1, determinants = 5.0 * 1.0;
  const double root = std::sqrt(trace + 2 * std::sqrt(determinants));
  CHECK(frechet_distance(a, b) == Approx(4 + 5 + 6 - 2 * root));
}

TEST_CASE("a set of features has no Frechet distance to itself, and any shift shows") {
  const std::int64_t width = 16;
  std::vector<float> features = random_features(10 * width, 6);  // fewer rows than columns
  const FeatureMoments a = moments_of(features, width);
  CHECK(std::abs(frechet_distance(a, a)) < 1e-6);
  for (float& value : features) value += 0.5f;
  CHECK(frechet_distance(a, moments_of(features, width)) == Approx(0.25 * width).epsilon(1e-4));
}

}  // namespace
}  // namespace acgan::test
