#pragma once

#include <string>

#include "bench/bench_row.h"
#include "config/config.h"

namespace acgan {

// What bears on whether 16 bits can pay.
struct SpeedupFacts {
  bool computes_in_half = false;  // the device has instructions for this row's 16-bit type
  bool computes_in_bf16 = false;
  ModelConfig widths;
  double best_gflops = 0;  // of the whole sweep: what the device can be brought to
};

// Why `mixed` is no, or hardly, faster than `fp32` at the same batch size, as far as it can be
// told, and whether the difference is one; empty where it is clearly faster.
std::string speedup_reason(const BenchRow& mixed, const BenchRow& fp32, const SpeedupFacts& facts);

}  // namespace acgan
