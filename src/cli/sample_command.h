#pragma once

#include "cli/command_line.h"

namespace acgan {

// Writes images of a trained generator and says where. Throws Error.
void run_sample_command(const SampleCommand& command);

}  // namespace acgan
