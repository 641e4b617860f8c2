#include <catch2/catch.hpp>
#include <cmath>

#include "base/format.h"
#include "run/read_curves.h"
#include "run/timing_log.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

// Step i: two images in half a second, losses i, 2 i and -i.
StepRecord record_of(std::int64_t step) {
  const auto value = static_cast<float>(step);
  return {.step = step,
          .images = 2 * step,
          .elapsed_seconds = 30 * static_cast<double>(step),
          .batch_ms = 500,
          .images_per_second = 4,
          .d_loss = value,
          .g_loss = 2 * value,
          .q_loss = -value,
          .loss_scale = {value, 2, 4}};
}

}  // namespace

TEST_CASE("a short timing.csv is read row by row") {
  const TemporaryFolder folder;
  TimingLog log(folder / "timing.csv", 0);
  for (std::int64_t step = 1; step <= 3; ++step) log.add(record_of(step));
  const auto points = read_timing(folder / "timing.csv", 4);
  REQUIRE(points.size() == 3);
  CHECK(points[1].minutes == Approx(1));
  CHECK(points[1].loss == std::array<double, 3>{2, 4, -2});
  CHECK(points[1].images_per_second == Approx(4));
  CHECK(points[1].loss_scale == std::array<double, 3>{2, 2, 4});
}

TEST_CASE("a long timing.csv becomes few stretches with the means of their steps") {
  const TemporaryFolder folder;
  const auto steps = GENERATE(std::int64_t{4}, 5, 16, 17, 1001);
  {
    TimingLog log(folder / "timing.csv", 0);
    for (std::int64_t step = 1; step <= steps; ++step) log.add(record_of(step));
  }
  const auto points = read_timing(folder / "timing.csv", 4);
  CHECK(points.size() >= 3);
  CHECK(points.size() <= 4);
  std::int64_t length = 1;
  while (length * 4 < steps) length *= 2;
  std::int64_t first = 1;
  for (const TimingPoint& point : points) {
    const std::int64_t last = std::min(first + length - 1, steps);
    CHECK(point.minutes == Approx(static_cast<double>(last) / 2));
    CHECK(point.loss[0] == Approx(static_cast<double>(first + last) / 2));
    CHECK(point.loss_scale[0] == Approx(static_cast<double>(last)));
    CHECK(point.images_per_second == Approx(4));
    first = last + 1;
  }
  CHECK(first == steps + 1);
}

TEST_CASE("losses that are not finite are left out of means, broken rows out of all") {
  const TemporaryFolder folder;
  const std::string row = ",2,30,500,4,nan,inf,1,1,1,1,0,0,0\n";
  write_text(folder / "timing.csv", "header\n1" + row + "x" + row + "1,2,3\n\n" +
                                        std::string(5000, '1') + "\n2" + row + "3,2,30,500");
  const auto points = read_timing(folder / "timing.csv", 10);
  REQUIRE(points.size() == 2);
  CHECK(std::isnan(points[0].loss[0]));
  CHECK(std::isnan(points[0].loss[1]));
  CHECK(points[0].loss[2] == 1);
  CHECK(read_timing(folder / "missing.csv", 10).empty());
  CHECK(read_timing(folder.path(), 10).empty());
}

TEST_CASE("quality figures are read by name, in the order of their steps") {
  const TemporaryFolder folder;
  write_text(
      folder / "metrics.jsonl",
      "{\"step\":20,\"elapsed_s\":120,\"frechet\":3.5,\"recall\":null,\"floor\":{\"frechet\":"
      "0.5}}\n"
      "{\"source\":\"folder\",\"step\":null,\"elapsed_s\":null,\"frechet\":1}\n"
      "no json\n[1]\n{\"step\":1e300,\"elapsed_s\":1}\n"
      "{\"step\":10,\"elapsed_s\":60,\"frechet\":7,\"classes\":[]}\n");
  const auto points = read_quality(folder / "metrics.jsonl");
  REQUIRE(points.size() == 2);
  CHECK(points[0].step == 10);
  CHECK(points[0].minutes == 1);
  CHECK(points[0].figures.at("frechet") == 7);
  CHECK(points[0].floor_figures.empty());
  CHECK(points[1].figures.at("frechet") == 3.5);
  CHECK_FALSE(points[1].figures.contains("recall"));
  CHECK(points[1].floor_figures.at("frechet") == 0.5);
  CHECK(read_quality(folder / "missing").empty());
}

}  // namespace acgan::test
