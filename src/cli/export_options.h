#pragma once

#include "cli/command_line.h"

namespace acgan {

// The options of `export`. Throws Error{Usage}.
Command parse_export(const std::vector<std::string>& arguments);

}  // namespace acgan
