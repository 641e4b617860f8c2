#pragma once

#include <string>
#include <vector>

#include "bench/read_bench_file.h"

namespace acgan {

// Throws Error{Output} where no report could be drawn or written into `folder`; leaves nothing.
void check_report_folder(const std::string& folder);

// Figures 1 to 3 (batch time, time per 1000 images, cost per million batches) as SVG and PNG, the
// rows as bench.csv, and report.html with all of it, what was measured on and how. `documents`:
// one a machine, at least one. Everything is drawn before the first file is written. Returns the
// names of the files. Throws Error{Output}.
std::vector<std::string> write_report(const std::string& folder,
                                      const std::vector<BenchDocument>& documents);

}  // namespace acgan
