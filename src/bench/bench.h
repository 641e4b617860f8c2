#pragma once

#include <atomic>
#include <string>

#include "base/log.h"
#include "bench/cost.h"
#include "bench/sweep.h"

namespace acgan {

struct BenchRequest {
  SweepRequest sweep;
  PriceRequest price;
  std::string outdir = "bench";
  std::string program;  // name and version, for bench.json
  std::string command;  // what was typed
};

// Measures, prints a table and writes bench.csv and bench.json. Returns the exit code. Throws
// Error.
int run_bench(const BenchRequest& request, Log& log, const std::atomic<int>& signal_received);

}  // namespace acgan
