#pragma once

#include <string>
#include <vector>

#include "bench/after_row.h"
#include "bench/bench_row.h"
#include "bench/machine.h"
#include "bench/sweep.h"

namespace acgan {

// What a result needs beside its rows, to be understood and repeated elsewhere.
struct BenchContext {
  std::string program;  // "acgan-train 0.1.0"
  std::string command;  // as it can be given to a shell
  std::string config_name;
  std::string config;  // the complete one, as YAML
  std::string data;    // description of the data set
  std::string began;   // UTC, ISO 8601
  Machine machine;
  SweepLimits limits;
  std::string price;  // where the price is from; empty without one
};

// What was measured on one machine by one command: a sweep over batch sizes, or --after.
struct BenchDocument {
  BenchContext context;
  SweepResult result;
  AfterResult after;
};

}  // namespace acgan
