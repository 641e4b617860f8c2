#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/log.h"
#include "bench/bench_data.h"
#include "bench/bench_row.h"
#include "config/config.h"

namespace acgan {

// A precision to measure: one lane of every batch size.
struct PrecisionChoice {
  PrecisionMode mode = PrecisionMode::Fp32;
  HalfType half = HalfType::Auto;
};

// When a row has been measured for long enough.
struct SweepLimits {
  std::int64_t warmup = 5;  // steps before the figures; at least kFewestWarmupSteps are run
  double min_seconds = 1, max_seconds = 30;  // of measured steps
  double spread = 0.02;  // half of the median's 95 % interval, as a share of the median
};

// Steps that TrainStep runs before it has captured its work, and the first captured one.
inline constexpr std::int64_t kFewestWarmupSteps = 3;

struct SweepRequest {
  Config config;
  std::vector<std::int64_t> batches;
  std::vector<PrecisionChoice> choices;
  SweepLimits limits;
};

inline constexpr const char* kDone = "done";

struct SweepResult {
  std::vector<BenchRow> rows;  // by batch, then as the choices; what a signal kept out is missing
  std::string ended;           // kDone, or the signal
};

// Measures training steps: the lanes of one batch size in short blocks, A B A B, so that drift
// favours none. A batch that does not fit, or is larger than the data set, becomes a row that says
// so. `signal_received` ends it after the current block; what was measured is kept.
SweepResult run_sweep(Backend& backend, const BenchData& data, const SweepRequest& request,
                      Log& log, const std::atomic<int>& signal_received);

}  // namespace acgan
