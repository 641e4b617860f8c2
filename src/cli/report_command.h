#pragma once

#include "cli/command_line.h"

namespace acgan {

// Writes a run's page and says where. Throws Error{Output} where RUN is no run directory, gnuplot
// is missing or the page cannot be written.
void run_report_command(const ReportCommand& command);

}  // namespace acgan
