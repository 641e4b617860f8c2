#include "bench/bench_samples.h"

#include <limits>

namespace acgan::test {

BenchRow measured_row() {
  BenchRow row;
  row.device = "Some \"GPU\", 16 GiB";
  row.precision = "mixed";
  row.half = "fp16";
  row.conv = "handwritten";
  row.batch = 64;
  row.warmup = 5;
  row.iterations = 10;
  row.median_ms = 8;
  row.p10_ms = 7;
  row.p90_ms = 9;
  row.images_per_second = 8000;
  row.seconds_per_1000 = 0.125;
  row.speedup_vs_fp32 = 0.5;
  row.ended_by = "spread";
  return row;
}

BenchRow refused_row() {
  BenchRow row;
  row.device = "cpu";
  row.precision = "fp32";
  row.batch = 2048;
  row.ended_by = "does not fit";
  row.note = "out of\nmemory";
  return row;
}

BenchContext sample_context() {
  return {.program = "acgan-train 1",
          .command = "acgan-train bench -c x.yaml",
          .config_name = "x",
          .config = "train:\n  batch: 64\n",
          .data = "doodles \xff",
          .began = "2000-01-01T00:00:00Z",
          .machine = {},
          .limits = {},
          .price = {}};
}

AfterResult sample_after() {
  AfterResult after{.batch = 64,
                    .rows = {},
                    .class_names = {"cat", "a'b"},
                    .quality_note = "by a net",
                    .figures = {},
                    .ended = "done"};
  AfterRow row{.precision = "fp32",
               .half = "",
               .minutes = 7,
               .seconds = 420.5,
               .step = 100,
               .images = 6400,
               .d_loss = 1.25,
               .g_loss = 0.75,
               .q_loss = 0.5,
               .accuracy_real = 0.9,
               .accuracy_fake = 0.95,
               .skipped = 0,
               .quality = AfterQuality{.accuracy = 0.8,
                                       .frechet = 12.5,
                                       .kernel = 0.25,
                                       .precision = 0.5,
                                       .recall = 0.25,
                                       .diversity = 0.75},
               .grid = "grid_fp32_07m00s.png",
               .note = ""};
  after.rows.push_back(row);
  row.precision = "mixed";
  row.half = "fp16";
  row.g_loss = std::numeric_limits<double>::quiet_NaN();
  row.quality.reset();
  row.note = "the training went non-finite";
  after.rows.push_back(row);
  return after;
}

}  // namespace acgan::test
