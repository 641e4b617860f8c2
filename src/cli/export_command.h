#pragma once

#include "cli/command_line.h"

namespace acgan {

// Writes a trained generator as an ONNX file, complete or not at all, and says what its inputs and
// its output are. Throws Error.
void run_export_command(const ExportCommand& command);

}  // namespace acgan
