#pragma once

#include <atomic>
#include <string>

#include "base/log.h"
#include "bench/cost.h"
#include "bench/peak.h"
#include "bench/sweep.h"

namespace acgan {

enum class BenchMode {
  Sweep,   // times of whole steps, into bench.csv and bench.json
  Floors,  // what a step must cost at least, operation by operation; needs no device
  Profile  // where the time of a step goes, the precisions beside each other
};

struct BenchRequest {
  BenchMode mode = BenchMode::Sweep;
  SweepRequest sweep;
  PriceRequest price;
  std::vector<Peak> peaks;  // of Floors
  std::string outdir = "bench";
  std::string program;  // name and version, for bench.json
  std::string command;  // what was typed
};

// Measures, prints a table and writes bench.csv and bench.json. Returns the exit code. Throws
// Error.
int run_bench(const BenchRequest& request, Log& log, const std::atomic<int>& signal_received);

}  // namespace acgan
