#include <catch2/catch.hpp>

#include "base/error.h"
#include "bench/cost.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

std::vector<BenchRow> one_row(double mean_ms) {
  BenchRow row;
  row.batch = 2000;
  row.iterations = 10;
  row.mean_ms = mean_ms;
  return {row};
}

std::vector<GpuPrice> two_prices() {
  GpuPrice t4;
  t4.match = "* T4";
  t4.gpu = "T4";
  t4.region = "here";
  t4.on_demand = 0.4;
  t4.spot = 0.1;
  GpuPrice elsewhere = t4;
  elsewhere.region = "there";
  elsewhere.on_demand = 0.5;
  elsewhere.spot.reset();
  return {t4, elsewhere};
}

}  // namespace

TEST_CASE("cost is the price times the time") {
  std::vector<BenchRow> rows = one_row(360);
  add_costs(rows, 1.0, 90.0);
  REQUIRE(rows[0].cost.has_value());
  CHECK(rows[0].cost->per_million_batches == Approx(100));  // 100 hours
  CHECK(rows[0].cost->per_million_images == Approx(0.05));
  CHECK(rows[0].cost->per_1000_images == Approx(0.00005));
  REQUIRE(rows[0].timed.has_value());
  CHECK(rows[0].timed->batches == Approx(15000));
  CHECK(rows[0].timed->images == Approx(3e7));
  CHECK(rows[0].timed->cost == Approx(1.5));
}

TEST_CASE("nothing is guessed: without a price or a figure there is no cost") {
  std::vector<BenchRow> rows = one_row(10);
  add_costs(rows, std::nullopt, 7.0);
  CHECK_FALSE(rows[0].cost.has_value());
  CHECK_FALSE(rows[0].timed->cost.has_value());
  rows = one_row(10);
  rows[0].iterations = 0;
  add_costs(rows, 1.0, 7.0);
  CHECK_FALSE(rows[0].cost.has_value());
  CHECK_FALSE(rows[0].timed.has_value());
}

TEST_CASE("a price is found by device, region and kind, or it is said why not") {
  const auto prices = two_prices();
  using Catch::Contains;
  PriceRequest request;
  CHECK(find_price_for(request, prices, "Tesla T4").per_hour == 0.4);
  request.region = "there";
  CHECK(find_price_for(request, prices, "tesla t4").per_hour == 0.5);
  request.kind = PriceKind::Spot;
  PriceFinding finding = find_price_for(request, prices, "Tesla T4");
  CHECK_FALSE(finding.per_hour.has_value());
  CHECK_THAT(finding.origin, Contains("no spot price of T4"));
  request.region = "here";
  CHECK(find_price_for(request, prices, "Tesla T4").per_hour == 0.1);
  finding = find_price_for(request, prices, "NVIDIA T400");
  CHECK_FALSE(finding.per_hour.has_value());
  CHECK_THAT(finding.origin, Contains("none for 'NVIDIA T400' in here (it has T4)"));
  CHECK(find_price_for({}, {}, "Tesla T4").origin == "none given");
  request.per_hour = 3;
  CHECK(find_price_for(request, prices, "anything").per_hour == 3);
}

TEST_CASE("a price list that was named must be there") {
  const TemporaryFolder folder;
  PriceRequest request;
  request.list = folder / "none.yaml";
  CHECK_THROWS_WITH(price_list_for(request), Catch::Contains("cannot read the price list file"));
}

}  // namespace acgan::test
