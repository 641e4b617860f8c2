#pragma once

namespace acgan {

// A broken promise between two pieces of our own code: throws std::logic_error with file and line.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace acgan

#define ACGAN_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::acgan::check_failed(#condition, __FILE__, __LINE__))
