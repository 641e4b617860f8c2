#pragma once

#include <string>

#include "bench/bench_document.h"

namespace acgan {

// Throws Error{Usage} where `path` cannot be read, is no bench.json, is of another version, or has
// a value of the wrong kind: names the file, the place, what was expected and what was found.
BenchDocument read_bench_file(const std::string& path);

}  // namespace acgan
