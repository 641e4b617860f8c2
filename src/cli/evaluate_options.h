#pragma once

#include "cli/command_line.h"

namespace acgan {

// The arguments of the command `evaluate`. Throws Error{Usage}.
Command parse_evaluate(const std::vector<std::string>& arguments);

}  // namespace acgan
