#include "data/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace acgan {
namespace {

std::string system_message(int error) { return std::generic_category().message(error); }

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // Without O_NONBLOCK a pipe that took the file's place would block for ever.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    fail(ErrorKind::Data, "'{}' cannot be opened: {}", path_, system_message(errno));
  }
  struct stat status = {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    fail(ErrorKind::Data, "'{}' is not a regular file", path_);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got =
        ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ErrorKind::Data, "'{}' cannot be read: {}", path_, system_message(errno));
    if (got == 0) {
      fail(ErrorKind::Data, "'{}' ends at byte {} where {} more were expected", path_, offset,
           bytes.size());
    }
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

std::vector<std::uint8_t> InputFile::read_all(std::uint64_t limit) const {
  if (size_ > limit) {
    fail(ErrorKind::Data, "'{}' has {} bytes, more than the {} that are read from such a file",
         path_, size_, limit);
  }
  std::vector<std::uint8_t> bytes(size_);
  read(0, bytes);
  return bytes;
}

}  // namespace acgan
