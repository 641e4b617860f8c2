#include <catch2/catch.hpp>

#include "train/thinned_series.h"

namespace acgan {
namespace {

TEST_CASE("a series within its capacity keeps every value") {
  ThinnedSeries series(8);
  for (int i = 0; i < 8; ++i) series.add(i);
  CHECK(series.values() == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("a longer series keeps values that are evenly spread, in bounded memory") {
  ThinnedSeries series(8);
  for (int i = 0; i < 9; ++i) series.add(i);
  CHECK(series.values() == std::vector<double>{0, 2, 4, 6, 8});
  for (int i = 9; i < 1000; ++i) {
    series.add(i);
    REQUIRE(series.values().size() <= 8);
  }
  REQUIRE(series.values().size() > 4);
  for (std::size_t i = 0; i < series.values().size(); ++i) {
    CHECK(series.values()[i] == static_cast<double>(i) * 128);
  }
}

}  // namespace
}  // namespace acgan
