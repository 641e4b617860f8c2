#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "bench/median_interval.h"

namespace acgan::test {

namespace {

std::vector<double> up_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

}  // namespace

// Ranks from a table of order-statistic intervals for the median (Conover 1999, table A3).
TEST_CASE("the median's interval has the ranks of the binomial distribution") {
  struct Case {
    int n;
    double low, high;
  };
  const auto [n, low, high] =
      GENERATE(Case{1, 1, 1}, Case{5, 1, 5}, Case{6, 1, 6}, Case{8, 1, 8}, Case{9, 2, 8},
               Case{10, 2, 9}, Case{20, 6, 15}, Case{100, 40, 61});
  CAPTURE(n);
  const MedianInterval interval = median_interval(up_to(n));
  CHECK(interval.low == low);
  CHECK(interval.high == high);
  CHECK(interval.median == 0.5 * (n + 1));
}

TEST_CASE("the median's interval does not depend on the order, and of nothing it is nothing") {
  std::vector<double> values = up_to(30);
  std::shuffle(values.begin(), values.end(), std::mt19937(1));
  CHECK(median_interval(values).low == median_interval(up_to(30)).low);
  CHECK(median_interval({}).median == 0);
  CHECK(median_interval({}).spread() == 0);
  CHECK(median_interval(up_to(6)).spread() == Approx(2.5 / 3.5));
}

TEST_CASE("the interval holds the true median in at least 95 of 100 cases") {
  std::mt19937 random(7);
  std::exponential_distribution<double> skewed(1.0);
  const double truth = std::log(2.0);
  int held = 0;
  constexpr int kCases = 2000;
  for (int i = 0; i < kCases; ++i) {
    std::vector<double> values(37);
    for (double& value : values) value = skewed(random);
    const MedianInterval interval = median_interval(values);
    held += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  CHECK(held > 0.94 * kCases);
}

}  // namespace acgan::test
