#include "quality/precision_recall.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "quality/feature_matrix.h"
#include "quality/parallel_tasks.h"

namespace acgan {
namespace {

constexpr std::int64_t kBlock = 64;  // rows whose distances are in memory at a time

// A set with the squared lengths of its rows.
struct Rows {
  explicit Rows(FeatureMatrix matrix)
      : values(std::move(matrix)), squares(values.rowwise().squaredNorm()) {}

  std::int64_t count() const { return values.rows(); }

  FeatureMatrix values;
  Eigen::VectorXd squares;
};

// Squared distances [count, N of `to`] of the rows [begin, begin + count) of `from`.
FeatureMatrix squared_distances(const Rows& from, std::int64_t begin, std::int64_t count,
                                const Rows& to) {
  FeatureMatrix result = -2.0 * (from.values.middleRows(begin, count) * to.values.transpose());
  result.colwise() += from.squares.segment(begin, count);
  result.rowwise() += to.squares.transpose();
  return result.cwiseMax(0.0);
}

// Calls visit(row, distances to every row of `to`) for all rows of `from`, each once, in any order.
template <typename Visitor>
void visit_distances(const Rows& from, const Rows& to, const Visitor& visit) {
  for_each_task((from.count() + kBlock - 1) / kBlock, [&](std::int64_t task) {
    const std::int64_t begin = task * kBlock;
    const std::int64_t count = std::min(kBlock, from.count() - begin);
    FeatureMatrix block = squared_distances(from, begin, count, to);
    for (std::int64_t i = 0; i < count; ++i) {
      visit(begin + i, std::span(block.row(i).data(), static_cast<std::size_t>(to.count())));
    }
  });
}

// Squared radius of each row's ball.
std::vector<double> radii_of(const Rows& rows, int neighbors) {
  std::vector<double> radii(static_cast<std::size_t>(rows.count()));
  visit_distances(rows, rows, [&](std::int64_t row, std::span<double> distances) {
    distances[static_cast<std::size_t>(row)] = std::numeric_limits<double>::infinity();
    const auto wanted = distances.begin() + neighbors - 1;
    std::nth_element(distances.begin(), wanted, distances.end());
    radii[static_cast<std::size_t>(row)] = *wanted;
  });
  return radii;
}

// Share of `points` that lie in a ball around a row of `centers`.
double share_inside(const Rows& points, const Rows& centers, const std::vector<double>& radii) {
  std::vector<std::uint8_t> is_inside(static_cast<std::size_t>(points.count()));
  visit_distances(points, centers, [&](std::int64_t point, std::span<const double> distances) {
    for (std::size_t center = 0; center < radii.size(); ++center) {
      if (distances[center] > radii[center]) continue;
      is_inside[static_cast<std::size_t>(point)] = 1;
      break;
    }
  });
  const auto inside = std::count(is_inside.begin(), is_inside.end(), 1);
  return static_cast<double>(inside) / static_cast<double>(points.count());
}

}  // namespace

PrecisionRecall precision_recall(std::span<const float> real, std::span<const float> fake,
                                 std::int64_t width, int neighbors) {
  const Rows reals(feature_matrix(real, width)), fakes(feature_matrix(fake, width));
  ACGAN_CHECK(neighbors >= 1 && std::min(reals.count(), fakes.count()) > neighbors);
  return {.precision = share_inside(fakes, reals, radii_of(reals, neighbors)),
          .recall = share_inside(reals, fakes, radii_of(fakes, neighbors))};
}

}  // namespace acgan
