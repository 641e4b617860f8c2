#pragma once

namespace acgan::cuda {

// Throws Error{Device} with the runtime's name and text of why a kernel could not be started.
[[noreturn]] void launch_failed(const char* name, const char* text);

}  // namespace acgan::cuda
