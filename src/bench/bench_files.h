#pragma once

#include <string>
#include <vector>

#include "bench/bench_document.h"

namespace acgan {

// Of bench.json; read_bench_file() refuses others.
inline constexpr const char* kBenchFormat = "acgan-train bench";
inline constexpr int kBenchFormatVersion = 1;
inline constexpr const char* kBenchCsvName = "bench.csv";
inline constexpr const char* kBenchJsonName = "bench.json";
// Of --after; the same format.
inline constexpr const char* kAfterJsonName = "after.json";

// bench.csv: a header and a line a row; an empty cell is a figure that does not exist.
std::string bench_csv(const std::vector<BenchRow>& rows);
// bench.json: the same rows with the context, null for what does not exist; and what --after gave.
std::string bench_json(const BenchDocument& document);

// Throws Error{Output} where the two could not be written into `folder`; tries, and leaves nothing.
void check_bench_folder(const std::string& folder);
// Writes both, each complete or not at all, into a folder that is made where missing.
void write_bench_files(const std::string& folder, const BenchDocument& document);

// The same for --after, whose figures are written as they come.
void check_after_folder(const std::string& folder);
void write_after_file(const std::string& folder, const BenchDocument& document);

}  // namespace acgan
