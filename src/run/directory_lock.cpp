#include "run/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace acgan {

DirectoryLock::DirectoryLock(const std::string& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  if (reason == EWOULDBLOCK) {
    fail(ErrorKind::Output,
         "another process is training in {}; wait for its end, or start a new run without --resume",
         folder);
  }
  fail(ErrorKind::Output, "cannot lock the run directory {}: {}", folder,
       std::generic_category().message(reason));
}

DirectoryLock::~DirectoryLock() { ::close(descriptor_); }

}  // namespace acgan
