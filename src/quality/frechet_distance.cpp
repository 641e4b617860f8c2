#include "quality/frechet_distance.h"

#include <Eigen/Eigenvalues>

#include "quality/feature_matrix.h"

namespace acgan {
namespace {

using Map = Eigen::Map<const FeatureMatrix>;
using Vector = Eigen::Map<const Eigen::VectorXd>;

using Solver = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

// Rounding may leave a covariance of few samples with eigenvalues just below zero.
Eigen::VectorXd root_of_eigenvalues(const Solver& solver) {
  return solver.eigenvalues().cwiseMax(0.0).cwiseSqrt();
}

}  // namespace

FeatureMoments moments_of(std::span<const float> features, std::int64_t width) {
  FeatureMatrix x = feature_matrix(features, width);
  ACGAN_CHECK(x.rows() >= 2);
  const Eigen::RowVectorXd mean = x.colwise().mean();
  x.rowwise() -= mean;
  const FeatureMatrix covariance = x.transpose() * x / static_cast<double>(x.rows() - 1);
  return {.width = width,
          .mean = {mean.data(), mean.data() + mean.size()},
          .covariance = {covariance.data(), covariance.data() + covariance.size()}};
}

// (S1 S2)^1/2 has the same trace as (S1^1/2 S2 S1^1/2)^1/2, whose argument is symmetric: two
// symmetric eigenproblems, and nothing turns complex as the root of a product may.
double frechet_distance(const FeatureMoments& a, const FeatureMoments& b) {
  ACGAN_CHECK(a.width == b.width && a.width > 0);
  const Map s1(a.covariance.data(), a.width, a.width), s2(b.covariance.data(), b.width, b.width);
  const Solver of_s1{Eigen::MatrixXd(s1)};
  const Eigen::MatrixXd root = of_s1.eigenvectors() * root_of_eigenvalues(of_s1).asDiagonal() *
                               of_s1.eigenvectors().transpose();
  const Eigen::MatrixXd product = root * s2 * root;
  const Solver of_product(0.5 * (product + product.transpose()), Eigen::EigenvaluesOnly);
  const Vector m1(a.mean.data(), a.width), m2(b.mean.data(), b.width);
  return (m1 - m2).squaredNorm() + s1.trace() + s2.trace() -
         2 * root_of_eigenvalues(of_product).sum();
}

}  // namespace acgan
