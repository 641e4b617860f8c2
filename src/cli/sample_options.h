#pragma once

#include "cli/option_parser.h"

namespace acgan {

// The command `sample`. Throws like parse_command_line.
Command parse_sample(const Arguments& arguments);

}  // namespace acgan
