#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "bench/cost.h"
#include "bench/peak.h"
#include "bench/sweep.h"

namespace acgan {

enum class BenchMode {
  Sweep,    // times of whole steps, into bench.csv and bench.json
  Floors,   // what a step must cost at least, operation by operation; needs no device
  Profile,  // where the time of a step goes, the precisions beside each other
  After,    // what each precision has learnt after the same time, into after.json
  Merge     // no measuring: a report from files of earlier sweeps, maybe of other machines
};

struct BenchRequest {
  BenchMode mode = BenchMode::Sweep;
  SweepRequest sweep;
  PriceRequest price;
  std::vector<Peak> peaks;  // of Floors
  std::string outdir = "bench";
  std::optional<std::string> report;  // folder for figures and report.html
  std::vector<std::string> merged;    // of Merge: bench.json or after.json files
  std::vector<double> after_minutes;  // of After
  std::string program;                // name and version, for bench.json
  std::string command;                // what was typed
};

// Measures, prints a table and writes bench.csv and bench.json. Returns the exit code. Throws
// Error.
int run_bench(const BenchRequest& request, Log& log, const std::atomic<int>& signal_received);

}  // namespace acgan
