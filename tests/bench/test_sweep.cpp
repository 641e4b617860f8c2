#include <catch2/catch.hpp>
#include <csignal>

#include "backend/open_backend.h"
#include "base/error.h"
#include "bench/bench_fixture.h"

namespace acgan::test {

namespace {

struct SweepRun {
  explicit SweepRun(const SweepRequest& sweep, int signal = 0)
      : backend(open_backend(sweep.config.train.device, 1)),
        data(*backend, load_dataset(sweep.config.data, 1)) {
    Log log(Verbosity::Quiet);
    const std::atomic<int> received{signal};
    result = run_sweep(*backend, data, sweep, log, received);
  }

  std::unique_ptr<Backend> backend;
  BenchData data;
  SweepResult result;
};

}  // namespace

TEST_CASE("a sweep has a row for each batch and precision, and they hang together") {
  SweepRequest sweep = small_sweep();
  sweep.batches = {4, 8};
  sweep.choices.push_back({.mode = PrecisionMode::Mixed, .half = HalfType::Bf16});
  const SweepResult result = SweepRun(sweep).result;
  CHECK(result.ended == "done");
  REQUIRE(result.rows.size() == 6);
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const BenchRow& row = result.rows[i];
    CAPTURE(i);
    CHECK(row.label() == std::vector<std::string>{"fp32", "mixed fp16", "mixed bf16"}[i % 3]);
    CHECK(row.batch == (i < 3 ? 4 : 8));
    CHECK(row.conv == "handwritten");
    CHECK(row.warmup == 3);
    CHECK(row.iterations >= 1);
    CHECK(row.p10_ms <= row.median_ms);
    CHECK(row.median_ms <= row.p90_ms);
    CHECK(row.median_low_ms <= row.median_ms);
    CHECK(row.median_ms <= row.median_high_ms);
    CHECK(row.median_ms > 0);
    CHECK(row.images_per_second == Approx(1e3 * static_cast<double>(row.batch) / row.median_ms));
    CHECK(row.seconds_per_1000 == Approx(1e3 / row.images_per_second));
    CHECK(row.gflops > 0);
    CHECK(row.peak_mib > 0);
    CHECK((row.ended_by == "spread" || row.ended_by == "time"));
    CAPTURE(row.skipped, row.iterations, row.note);
    REQUIRE(row.speedup_vs_fp32.has_value());
    CHECK(*row.speedup_vs_fp32 == Approx(result.rows[i / 3 * 3].median_ms / row.median_ms));
  }
  CHECK(result.rows[1].peak_mib < result.rows[0].peak_mib);
  CHECK(result.rows[3].peak_mib > result.rows[0].peak_mib);
}

TEST_CASE("a batch larger than the data set, or than memory, is a row and the sweep goes on") {
  SweepRequest sweep = small_sweep();
  sweep.batches = {65536, 4};
  const SweepResult result = SweepRun(sweep).result;
  REQUIRE(result.rows.size() == 4);
  CHECK(result.rows[0].ended_by == "exceeds the data set");
  CHECK_FALSE(result.rows[0].is_measured());
  CHECK_FALSE(result.rows[0].speedup_vs_fp32.has_value());
  CHECK(result.rows[2].is_measured());

  sweep.batches = {40};  // with activations of some terabytes
  sweep.config.data.image_size = 256;
  sweep.config.model.conv1_width = sweep.config.model.conv2_width = 65536;
  const SweepResult refused = SweepRun(sweep).result;
  REQUIRE(refused.rows.size() == 2);
  CHECK(refused.rows[0].ended_by == "does not fit");
  CHECK_THAT(refused.rows[0].note, Catch::Contains("memory"));
}

TEST_CASE("lanes that are captured keep apart from each other") {
  SweepRequest sweep = small_sweep();
  sweep.config.train.device = "emulated";
  sweep.batches = {2, 4};
  const SweepResult result = SweepRun(sweep).result;
  REQUIRE(result.rows.size() == 4);
  for (const BenchRow& row : result.rows) {
    CHECK(row.is_measured());
    CHECK(row.note.find("non-finite") == std::string::npos);
  }
}

TEST_CASE("what computes alike is measured once") {
  SweepRequest sweep = small_sweep();
  sweep.choices.push_back({.mode = PrecisionMode::Mixed, .half = HalfType::Auto});
  CHECK(SweepRun(sweep).result.rows.size() == 2);
}

TEST_CASE("without fp32 there is no speed-up") {
  SweepRequest sweep = small_sweep();
  sweep.choices.erase(sweep.choices.begin());
  const SweepResult result = SweepRun(sweep).result;
  REQUIRE(result.rows.size() == 1);
  CHECK_FALSE(result.rows[0].speedup_vs_fp32.has_value());
}

TEST_CASE("steps whose updates were skipped give no speed-up, and the row says so") {
  SweepRequest sweep = small_sweep();
  sweep.config.precision.loss_scale = 1e38;  // overflows in every step
  const SweepResult result = SweepRun(sweep).result;
  REQUIRE(result.rows.size() == 2);
  CHECK(result.rows[1].skipped >= 3 * result.rows[1].iterations);
  CHECK_FALSE(result.rows[1].speedup_vs_fp32.has_value());
  CHECK_THAT(result.rows[1].note,
             Catch::Contains("updates were skipped") || Catch::Contains("left out"));
}

TEST_CASE("a signal ends the sweep with what was measured so far") {
  const SweepResult result = SweepRun(small_sweep(), SIGINT).result;
  CHECK(result.ended == "SIGINT");
  CHECK(result.rows.empty());
}

TEST_CASE("a class without an image is a data error") {
  SweepRequest sweep = small_sweep();
  const auto backend = open_backend("packed", 1);
  Dataset dataset = load_dataset(sweep.config.data, 1);
  dataset.class_names.emplace_back("ghost");
  CHECK_THROWS_WITH(BenchData(*backend, dataset), Catch::Contains("ghost"));
}

}  // namespace acgan::test
