#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "quality/class_figures.h"
#include "quality/precision_recall.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

std::vector<float> features(std::int64_t count, unsigned seed, double low, double high) {
  const std::vector<double> values = random_values(count, seed, low, high);
  return {values.begin(), values.end()};
}

double squared(const std::vector<float>& x, std::size_t i, const std::vector<float>& y,
               std::size_t j, std::size_t width) {
  double sum = 0;
  for (std::size_t k = 0; k < width; ++k) {
    sum += std::pow(double{x[i * width + k]} - double{y[j * width + k]}, 2);
  }
  return sum;
}

// Share of the rows of `points` in a ball around a row of `centers`, by the definition.
double share_inside(const std::vector<float>& points, const std::vector<float>& centers,
                    std::size_t width, std::size_t neighbors) {
  const std::size_t n = centers.size() / width;
  double inside = 0;
  for (std::size_t p = 0; p < points.size() / width; ++p) {
    bool hit = false;
    for (std::size_t c = 0; c < n; ++c) {
      std::vector<double> others;
      for (std::size_t j = 0; j < n; ++j) {
        if (j != c) others.push_back(squared(centers, c, centers, j, width));
      }
      std::sort(others.begin(), others.end());
      hit |= squared(points, p, centers, c, width) <= others[neighbors - 1];
    }
    inside += hit ? 1 : 0;
  }
  return inside / static_cast<double>(points.size() / width);
}

TEST_CASE("precision and recall are their definition, row by row") {
  const std::size_t width = 3;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto real = features(70 * 3, seed, -1, 1);  // more than a block of rows
    const auto fake = features(45 * 3, 100 + seed, -0.4, 1.4);
    for (const int k : {1, 3}) {
      const PrecisionRecall figures = precision_recall(real, fake, width, k);
      const auto neighbors = static_cast<std::size_t>(k);
      CHECK(figures.precision == share_inside(fake, real, width, neighbors));
      CHECK(figures.recall == share_inside(real, fake, width, neighbors));
      CHECK(figures.precision < 1);
      CHECK(figures.recall > 0);
    }
  }
}

TEST_CASE("precision falls with strange images and recall with missing ones") {
  const auto real = features(400 * 2, 1, 0, 1);
  auto half = features(400 * 2, 2, 0, 1);
  for (std::size_t i = 0; i < half.size(); i += 2) half[i] *= 0.5f;  // the left half of the square
  const PrecisionRecall narrow = precision_recall(real, half, 2);
  CHECK(narrow.precision > 0.95);
  CHECK(narrow.recall == Approx(0.5).margin(0.1));
  const PrecisionRecall wide = precision_recall(half, real, 2);
  CHECK(wide.precision == narrow.recall);
  CHECK(wide.recall == narrow.precision);
  const auto elsewhere = features(50 * 2, 3, 5, 6);
  CHECK(precision_recall(real, elsewhere, 2).precision == 0);
  CHECK(precision_recall(real, elsewhere, 2).recall == 0);
}

TEST_CASE("class accuracy and spread are counted class by class") {
  const FeatureSet set{.width = 2,
                       .values = {0, 0, 3, 4, 0, 4, 1, 1, 9, 9},
                       .labels = {0, 0, 0, 2, 3},
                       .predicted = {0, 1, 0, 2, 0}};
  const auto accuracy = accuracy_by_class(set, 4);
  CHECK(accuracy[0] == Approx(2.0 / 3));
  CHECK_FALSE(accuracy[1].has_value());  // no image of it
  CHECK(accuracy[2] == 1.0);
  CHECK(accuracy[3] == 0.0);
  CHECK(mean_of(accuracy) == Approx(5.0 / 9));  // of classes, whatever their size
  const auto spread = spread_by_class(set, 4);
  CHECK(spread[0] == Approx((5.0 + 4.0 + 3.0) / 3));
  CHECK_FALSE(spread[2].has_value());  // no pair
  CHECK_FALSE(mean_of({std::nullopt}).has_value());
}

}  // namespace
}  // namespace acgan::test
