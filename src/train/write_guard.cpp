#include "train/write_guard.h"

namespace acgan {

void WriteGuard::tell_failure(const std::string& what, const Error& error) {
  if (!failing_.insert(what).second) return;
  log_.warn("{}; training goes on without, and {} is tried again when it is due again",
            error.what(), what);
}

void WriteGuard::tell_success(const std::string& what) {
  if (failing_.erase(what) != 0) log_.warn("{} can be written again", what);
}

}  // namespace acgan
