#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/descriptor.h"
#include "base/error.h"

namespace acgan {
namespace {

[[noreturn]] void fail_to_write(const std::string& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  fail(ErrorKind::Output, "cannot write {}: {}; {}choose another output folder", path,
       std::generic_category().message(error), is_full ? "free some space or " : "");
}

// The temporary name of a file being written; removed unless the file got its final name.
class TemporaryName {
 public:
  explicit TemporaryName(const std::filesystem::path& target)
      : path_((target.parent_path() /
               fmt::format(".{}.{}.tmp", target.filename().string(), static_cast<long>(::getpid())))
                  .string()) {}
  ~TemporaryName() {
    if (exists_) ::unlink(path_.c_str());
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  // A new file of this name. One that is there already was left by a dead process with our number
  // (in a container every run may have the same).
  int create() {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int number = ::open(path_.c_str(), kFlags, 0666);
    if (number < 0 && errno == EEXIST && ::unlink(path_.c_str()) == 0) {
      number = ::open(path_.c_str(), kFlags, 0666);
    }
    exists_ = number >= 0;
    return number;
  }
  bool rename_to(const std::string& target) {
    if (std::rename(path_.c_str(), target.c_str()) != 0) return false;
    exists_ = false;
    return true;
  }

 private:
  std::string path_;
  bool exists_ = false;
};

// Makes the renaming durable. Some file systems cannot sync a folder and say EINVAL: there is
// nothing more to do then.
int sync_folder(const std::filesystem::path& folder) {
  const std::string name = folder.empty() ? "." : folder.string();
  const Descriptor descriptor(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.number() < 0) return errno;
  return ::fsync(descriptor.number()) == 0 || errno == EINVAL ? 0 : errno;
}

// The process number in ".<name>.<pid>.tmp"; none for any other name.
std::optional<pid_t> writer_of(const std::string& name) {
  constexpr std::string_view kEnding = ".tmp";
  if (name.size() <= kEnding.size() || !name.starts_with('.') || !name.ends_with(kEnding)) {
    return std::nullopt;
  }
  const std::string stem = name.substr(0, name.size() - kEnding.size());
  const std::size_t dot = stem.rfind('.');
  if (dot == 0) return std::nullopt;
  const char* const end = stem.data() + stem.size();
  pid_t process = 0;
  const auto [rest, error] = std::from_chars(stem.data() + dot + 1, end, process);
  if (error != std::errc{} || rest != end || process <= 0) return std::nullopt;
  return process;
}

bool is_other_living_process(pid_t process) {
  return process != ::getpid() && (::kill(process, 0) == 0 || errno == EPERM);
}

}  // namespace

void check_is_replaceable(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return;
  fail(ErrorKind::Output, "cannot write {}: it is a {}, not a file; choose another name", path,
       S_ISDIR(status.st_mode)    ? "folder"
       : S_ISFIFO(status.st_mode) ? "pipe"
       : S_ISSOCK(status.st_mode) ? "socket"
                                  : "device");
}

void write_file_atomically(const std::string& path,
                           std::span<const std::span<const std::byte>> pieces) {
  const std::filesystem::path target(path);
  TemporaryName temporary(target);
  Descriptor file(temporary.create());
  if (file.number() < 0) fail_to_write(path, errno);
  for (const std::span<const std::byte> piece : pieces) {
    if (const int error = file.write_all(piece); error != 0) fail_to_write(path, error);
  }
  if (::fsync(file.number()) != 0) fail_to_write(path, errno);
  if (const int error = file.close(); error != 0) fail_to_write(path, error);
  if (!temporary.rename_to(path)) fail_to_write(path, errno);
  if (const int error = sync_folder(target.parent_path()); error != 0) fail_to_write(path, error);
}

void write_file_atomically(const std::string& path, std::span<const std::byte> content) {
  write_file_atomically(path, std::span<const std::span<const std::byte>>(&content, 1));
}

void write_file_atomically(const std::string& path, std::string_view content) {
  write_file_atomically(path, std::as_bytes(std::span(content)));
}

void remove_stale_temporary_files(const std::string& folder) {
  // A folder that cannot be listed or changed is reported by whoever writes into it next; one that
  // is only read (to draw samples) is no error.
  std::error_code ignored;
  std::filesystem::directory_iterator entries(folder, ignored);
  for (; entries != std::filesystem::directory_iterator(); entries.increment(ignored)) {
    const std::optional<pid_t> writer = writer_of(entries->path().filename().string());
    if (!writer || is_other_living_process(*writer)) continue;
    ::unlink(entries->path().c_str());
  }
}

}  // namespace acgan
