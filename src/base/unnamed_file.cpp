#include "base/unnamed_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace acgan {
namespace {

// Descriptors of ours are above those that a child finds files at.
constexpr int kFirstOwn = 100;

}  // namespace

UnnamedFile UnnamedFile::in_memory(std::string_view content) {
  UnnamedFile file(memfd_create("acgan-train", MFD_CLOEXEC), "memory");
  file.append(std::as_bytes(std::span(content)));
  return file;
}

UnnamedFile UnnamedFile::on_disk() {
  const char* const chosen = std::getenv("TMPDIR");
  const std::string folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  std::string path = folder + "/acgan-train-XXXXXX";
  const int opened = mkostemp(path.data(), O_CLOEXEC);
  const int why = errno;
  if (opened >= 0) unlink(path.c_str());
  errno = why;
  return UnnamedFile(opened, folder + " (TMPDIR names another folder)");
}

UnnamedFile::UnnamedFile(int opened, const std::string& place) : place_(place) {
  descriptor_ = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, kFirstOwn);
  const int why = errno;
  if (opened >= 0) close(opened);
  if (descriptor_ < 0) {
    fail(ErrorKind::Output, "cannot make a file in {}: {}", place_, std::strerror(why));
  }
}

UnnamedFile::~UnnamedFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

UnnamedFile::UnnamedFile(UnnamedFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), place_(std::move(other.place_)) {}

void UnnamedFile::append(std::span<const std::byte> piece) {
  auto offset = static_cast<off_t>(size());
  while (!piece.empty()) {
    const ssize_t written = pwrite(descriptor_, piece.data(), piece.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      fail(ErrorKind::Output, "cannot write a file in {}: {}", place_, std::strerror(errno));
    }
    piece = piece.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
}

std::uint64_t UnnamedFile::size() const {
  struct stat status {};
  return fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

void UnnamedFile::read(std::uint64_t offset, std::span<std::byte> target) const {
  while (!target.empty()) {
    const ssize_t count =
        pread(descriptor_, target.data(), target.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      fail(ErrorKind::Output, "cannot read a file in {}: {}", place_,
           count == 0 ? "it ends too early" : std::strerror(errno));
    }
    target = target.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

std::string UnnamedFile::text() const {
  std::string text(static_cast<std::size_t>(size()), '\0');
  read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace acgan
