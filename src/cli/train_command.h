#pragma once

#include "cli/command_line.h"

namespace acgan {

// Trains, and returns the exit code. SIGINT and SIGTERM end the run after the current step, a
// second one ends the process at once. Throws Error.
int run_train_command(const TrainCommand& command);

}  // namespace acgan
