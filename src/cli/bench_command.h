#pragma once

#include "cli/command_line.h"

namespace acgan {

// Measures what the command asks for, and returns the exit code. A signal ends it after the current
// block of steps; what was measured is written. Throws Error.
int run_bench_command(const BenchCommand& command);

}  // namespace acgan
