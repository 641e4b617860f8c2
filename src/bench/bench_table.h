#pragma once

#include <string>
#include <vector>

#include "bench/bench_row.h"
#include "bench/sweep.h"

namespace acgan {

// The rows as a table for people, with what the figures mean and the notes below it.
std::string bench_table(const std::vector<BenchRow>& rows, const SweepLimits& limits);

}  // namespace acgan
