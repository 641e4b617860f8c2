#pragma once

#include "cli/command_line.h"

namespace acgan {

// What the arguments of `bench` (without its name) ask for; as parse_command_line.
Command parse_bench(const std::vector<std::string>& arguments);

}  // namespace acgan
