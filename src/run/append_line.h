#pragma once

#include <string>

namespace acgan {

// Throws what append_line would where the file cannot be opened for writing; changes nothing.
void check_can_append(const std::string& path);

// Adds a line to a file, which is made if missing; what stands in it stays. Throws Error{Output}
// when the line did not reach the file.
void append_line(const std::string& path, const std::string& line);

}  // namespace acgan
