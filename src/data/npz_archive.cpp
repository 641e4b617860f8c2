#include "data/npz_archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>
#include <span>

#include "base/error.h"
#include "data/data_folder.h"
#include "data/input_file.h"
#include "data/memory_bytes.h"
#include "data/shown_text.h"

namespace acgan {
namespace {

constexpr std::size_t kMaxMembers = 1024;
constexpr std::string_view kExtension = ".npy";

// Walks through an archive from its first entry to its last.
class ArchiveReader {
 public:
  explicit ArchiveReader(const std::string& path)
      : file_(path), archive_(archive_read_new(), archive_read_free) {
    if (archive_ == nullptr) throw std::bad_alloc();
    check_magic();
    archive_read_support_format_zip_seekable(archive_.get());
    check(archive_read_open_filename(archive_.get(), path.c_str(), kBlockBytes));
  }

  // Whether there is one more entry, which then is the current one.
  bool next() {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(archive_.get(), &entry);
    if (status == ARCHIVE_EOF) return false;
    check(status);
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr) name = archive_entry_pathname_utf8(entry);
    name_ = shown_text(name == nullptr ? "?" : name);
    const std::int64_t size = archive_entry_size(entry);
    if (archive_entry_size_is_set(entry) == 0 || size < 0) refuse("an entry has no size");
    size_ = static_cast<std::uint64_t>(size);
    check_size();
    return true;
  }

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  // The first `bytes` bytes of the current entry, or all of it where it has fewer.
  std::vector<std::uint8_t> read(std::uint64_t bytes) {
    std::vector<std::uint8_t> content;
    std::vector<std::uint8_t> chunk(kBlockBytes);
    for (;;) {
      // At the end one more is asked for: the library then compares check sums.
      const std::uint64_t rest = bytes - content.size();
      if (rest == 0 && bytes < size_) break;
      const auto got = archive_read_data(archive_.get(), chunk.data(),
                                         std::clamp<std::uint64_t>(rest, 1, chunk.size()));
      if (got == 0) break;
      if (got < 0) check(static_cast<int>(got));
      if (rest == 0) refuse(fmt::format("'{}' is longer than the archive says", name_));
      content.insert(content.end(), chunk.begin(), chunk.begin() + got);
    }
    return content;
  }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

  [[noreturn]] void refuse(const std::string& reason) const {
    fail(ErrorKind::Data, "'{}' cannot be read as a .npz archive: {}; get the file again",
         file_.path(), reason);
  }

  void check(int status) const {
    if (status == ARCHIVE_OK) return;
    const char* reason = archive_error_string(archive_.get());
    refuse(reason == nullptr ? "it is damaged" : shown_text(reason));
  }

  void check_magic() const {
    if (file_.size() == 0) fail(ErrorKind::Data, "'{}' is empty: it holds no arrays", file_.path());
    std::vector<std::uint8_t> begin(std::min<std::uint64_t>(file_.size(), 6));
    file_.read(0, begin);
    const std::string_view text(reinterpret_cast<const char*>(begin.data()), begin.size());
    if (text.starts_with("PK")) return;
    if (text == "\x93NUMPY") refuse("it is a single array: name it .npy");
    refuse("it does not begin as one does");
  }

  // Deflate makes 1032 bytes of one at most.
  void check_size() const {
    constexpr std::uint64_t kLargestRatio = 1040;
    if (size_ / kLargestRatio <= file_.size()) return;
    refuse(fmt::format("'{}' claims to have {} bytes, more than a file of {} bytes can hold", name_,
                       size_, file_.size()));
  }

  InputFile file_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
  std::string name_;
  std::uint64_t size_ = 0;
};

}  // namespace

std::vector<NpzMember> list_npz(const std::string& path) {
  ArchiveReader reader(path);
  std::vector<NpzMember> members;
  while (reader.next()) {
    if (!has_extension(reader.name(), kExtension)) continue;
    const std::string name = reader.name().substr(0, reader.name().size() - kExtension.size());
    const bool is_known = std::any_of(members.begin(), members.end(),
                                      [&](const NpzMember& member) { return member.name == name; });
    if (is_known) {
      fail(ErrorKind::Data, "'{}' holds two arrays named '{}': save it again", path, name);
    }
    if (members.size() == kMaxMembers) {
      fail(ErrorKind::Data, "'{}' holds more than {} arrays", path, kMaxMembers);
    }
    const MemoryBytes begin(fmt::format("{}: {}", path, name), reader.size(),
                            reader.read(kMaxNpyHeaderBytes));
    members.push_back({.name = name,
                       .entry = reader.name(),
                       .size = reader.size(),
                       .header = read_npy_header(begin)});
  }
  return members;
}

std::vector<std::uint8_t> read_npz_member(const std::string& path, const NpzMember& member,
                                          std::uint64_t bytes) {
  ArchiveReader reader(path);
  while (reader.next()) {
    if (reader.name() != member.entry) continue;
    return reader.read(bytes);
  }
  fail(ErrorKind::Data, "'{}' no longer holds an array named '{}'", path, member.name);
}

}  // namespace acgan
