#pragma once

#include "cli/command_line.h"

namespace acgan {

// Judges a generator, or images, and prints figures beside those of real images. Throws Error.
void run_evaluate_command(const EvaluateCommand& command);

}  // namespace acgan
