#pragma once

#include <stdexcept>
#include <string>

#include "base/check.h"
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

}  // namespace acgan
