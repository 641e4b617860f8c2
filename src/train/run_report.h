#pragma once

#include <string>

#include "run/run_directory.h"

namespace acgan {

// The run as one self-contained HTML page: curves of losses, loss scales, speed and, from
// metrics.jsonl where there is one, quality, the best marked; the newest grid, the real images, the
// animation where there is one; summary and config. From what the directory holds so far: a run
// that is still going on, or ended badly, has a report too. Throws Error{Output} where gnuplot
// cannot draw.
std::string run_report(const RunDirectory& run);

// The same into report.html.
void write_run_report(const RunDirectory& run);

}  // namespace acgan
