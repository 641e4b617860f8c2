#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/unnamed_file.h"

namespace acgan {

// Runs `command` (a program looked for in PATH, and its arguments; no shell) with `input` as its
// standard input and returns what it wrote to standard output. It finds each of `files` as
// /dev/fd/3, /dev/fd/4 and so on. Throws Error{Output} where it cannot be started, with `hint`, or
// fails, with its last line on standard error, the signal that ended it, or its exit code.
std::string run_filter(const std::vector<std::string>& command, std::string_view input,
                       const std::string& hint, const std::vector<const UnnamedFile*>& files = {});

}  // namespace acgan
