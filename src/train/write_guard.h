#pragma once

#include <set>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "config/config.h"

namespace acgan {

// The writes of a run while it trains. Where one fails the run ends (OnWriteError::Stop: the error
// goes on to the caller), or warns and trains on (Continue).
class WriteGuard {
 public:
  WriteGuard(OnWriteError policy, Log& log) : policy_(policy), log_(log) {}

  // Whether `write` was done. Of each kind of file (`what`, "timing.csv") the first failure is
  // told, and the first success after it.
  template <typename Write>
  bool run(const std::string& what, const Write& write) {
    try {
      write();
    } catch (const Error& error) {
      if (policy_ == OnWriteError::Stop || error.kind() != ErrorKind::Output) throw;
      tell_failure(what, error);
      return false;
    }
    if (!failing_.empty()) tell_success(what);
    return true;
  }

 private:
  void tell_failure(const std::string& what, const Error& error);
  void tell_success(const std::string& what);

  OnWriteError policy_;
  Log& log_;
  std::set<std::string> failing_;
};

}  // namespace acgan
