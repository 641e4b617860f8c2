#pragma once

#include <string>
#include <vector>

#include "bench/bench_row.h"
#include "bench/machine.h"
#include "bench/sweep.h"

namespace acgan {

// Of bench.json; a reader refuses others.
inline constexpr int kBenchFormatVersion = 1;

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

// bench.csv: a header and a line a row; an empty cell is a figure that does not exist.
std::string bench_csv(const std::vector<BenchRow>& rows);
// bench.json: the same rows with the context, null for what does not exist.
std::string bench_json(const SweepResult& result, const BenchContext& context);

// Throws Error{Output} where the two could not be written into `folder`; tries, and leaves nothing.
void check_bench_folder(const std::string& folder);
// Writes both, each complete or not at all, into a folder that is made where missing.
void write_bench_files(const std::string& folder, const SweepResult& result,
                       const BenchContext& context);

}  // namespace acgan
