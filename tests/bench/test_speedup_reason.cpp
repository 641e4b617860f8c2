#include <catch2/catch.hpp>

#include "bench/speedup_reason.h"

namespace acgan::test {

namespace {

// A row whose median is known to a hundredth.
BenchRow row_of(double median_ms, double gflops) {
  BenchRow row;
  row.median_ms = median_ms;
  row.median_low_ms = 0.99 * median_ms;
  row.median_high_ms = 1.01 * median_ms;
  row.gflops = gflops;
  return row;
}

BenchRow half_row(double median_ms) {
  BenchRow row = row_of(median_ms, 100);
  row.half = "fp16";
  return row;
}

}  // namespace

TEST_CASE("the reason for a missing gain is one that holds") {
  const BenchRow fp32 = row_of(10, 100);
  const SpeedupFacts good{.computes_in_half = true, .widths = {}, .best_gflops = 100};
  using Catch::Contains;

  CHECK(speedup_reason(half_row(5), fp32, good).empty());
  CHECK(speedup_reason(half_row(10.05), fp32, good) == "no difference beyond the noise");
  CHECK_THAT(speedup_reason(half_row(12), fp32, good), Contains("no reason known"));
  BenchRow vague = half_row(8);
  vague.median_high_ms = 11;
  CHECK(speedup_reason(vague, fp32, good) == "no difference beyond the noise");

  SpeedupFacts facts = good;
  facts.computes_in_half = false;
  CHECK_THAT(speedup_reason(half_row(12), fp32, facts),
             Contains("no 16-bit units for fp16") && !Contains("bf16"));
  facts.computes_in_bf16 = true;
  CHECK_THAT(speedup_reason(half_row(12), fp32, facts), Contains("--half bf16"));

  facts = good;
  facts.best_gflops = 1000;
  CHECK_THAT(speedup_reason(half_row(12), fp32, facts), Contains("batch too small"));

  facts = good;
  facts.widths.conv2_width = 127;
  CHECK_THAT(speedup_reason(half_row(12), fp32, facts),
             Contains("multiples of eight: conv2_width 127"));

  BenchRow tf32 = fp32;
  tf32.tf32 = true;
  CHECK_THAT(speedup_reason(half_row(10), tf32, good), Contains("TF32"));
}

}  // namespace acgan::test
