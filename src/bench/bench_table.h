#pragma once

#include <string>
#include <vector>

#include "bench/after_row.h"
#include "bench/bench_row.h"
#include "bench/sweep.h"

namespace acgan {

// The rows as a table for people, with what the figures mean and the notes below it.
std::string bench_table(const std::vector<BenchRow>& rows, const SweepLimits& limits);

// What is to be said of rows, each note once: "64 fp32, 64 mixed fp16: ...".
std::vector<std::string> bench_notes(const std::vector<BenchRow>& rows);

// The rows of --after as a table.
std::string after_table(const AfterResult& after);
// Its cells, for other kinds of tables; the heading first.
std::vector<std::vector<std::string>> after_cells(const AfterResult& after);

}  // namespace acgan
