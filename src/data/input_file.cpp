#include "data/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace acgan {
namespace {

std::string system_message(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail_to_open(const std::string& path, int error) {
  std::error_code ignored;
  const auto type = std::filesystem::symlink_status(path, ignored).type();
  if (error == ENOENT && type == std::filesystem::file_type::symlink) {
    fail(ErrorKind::Data, "'{}' is a link to '{}', which does not exist: mend or remove it", path,
         std::filesystem::read_symlink(path, ignored).string());
  }
  const bool is_socket = type == std::filesystem::file_type::socket;
  fail(ErrorKind::Data, "'{}' cannot be opened: {}", path,
       is_socket ? "it is a socket, not a file" : system_message(error));
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  return S_ISFIFO(mode) ? "a pipe" : "a device";
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // Without O_NONBLOCK a pipe that took the file's place would block for ever.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail_to_open(path_, errno);
  struct stat status = {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    fail(ErrorKind::Data, "'{}' is {} where a file was expected: move or rename it", path_,
         kind_of(status.st_mode));
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
