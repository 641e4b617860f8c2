#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/log.h"
#include "bench/after_row.h"
#include "bench/bench_data.h"
#include "bench/sweep.h"

namespace acgan {

struct AfterRequest {
  Config config;
  std::vector<PrecisionChoice> choices;
  std::vector<double> minutes;  // ascending, above 0
  std::string folder;           // where the grids go; exists
};

class QualityMeter;

// Trains every precision for the same times, in short blocks in turn so that drift favours none,
// and writes a grid of each and figure 4, the grids beside each other, at every one of these times.
// `meter` judges the generators at these times. `signal_received` ends it with what was reached.
// Throws Error.
AfterResult run_after(Backend& backend, const BenchData& data, const AfterRequest& request,
                      QualityMeter& meter, Log& log, const std::atomic<int>& signal_received);

}  // namespace acgan
