#pragma once

#include <stdexcept>
#include <string>

#include "base/format.h"

namespace acgan {

// What went wrong, as the process exit code that reports it (README, "Exit codes").
enum class ErrorKind {
  Usage = 2,      // command line or config
  Data = 3,       // data set missing, unreadable, not what it says
  NonFinite = 4,  // training diverged
  Output = 5,     // cannot write, or a checkpoint cannot be read or belongs to another model
  Device = 6,     // device not there or out of memory
};

// The one exception type for everything a user can cause. The message is one sentence: what was
// expected, what was found and where, what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// Throws Error(kind, formatted message).
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> message, Args&&... args) {
  throw Error(kind, fmt::format(message, std::forward<Args>(args)...));
}

// A broken promise between two pieces of our own code: std::logic_error with file and line.
[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(fmt::format("{}:{}: check failed: {}", file, line, condition));
}

}  // namespace acgan

#define ACGAN_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::acgan::check_failed(#condition, __FILE__, __LINE__))
