#pragma once

#include <string>

namespace acgan {

// Holds a folder for this process: a second one is refused with Error{Output}. Gone with the
// process, however it ends.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& folder);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace acgan
