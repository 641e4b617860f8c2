#pragma once

#include <vector>

#include "bench/after_row.h"
#include "bench/bench_row.h"
#include "bench/file_column.h"

namespace acgan {

// Of bench.csv and bench.json, in file order: first those that other programs were promised.
const std::vector<FileColumn<BenchRow>>& bench_columns();
// Of the rows of --after in its JSON.
const std::vector<FileColumn<AfterRow>>& after_columns();

}  // namespace acgan
