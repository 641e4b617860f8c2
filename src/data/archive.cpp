#include "data/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <memory>
#include <optional>

#include "base/error.h"
#include "data/expanded_file.h"
#include "data/shown_text.h"

namespace acgan {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10;
constexpr int kMostMembers = 10000;  // CIFAR's archives have ten

// What libarchive reads from: the expanded file, with what went wrong in it and how much came.
struct Source {
  ExpandedFile file;
  std::uint64_t most_bytes;
  std::uint64_t bytes = 0;
  std::array<std::uint8_t, kChunk> chunk = {};
  std::optional<Error> error;  // no exception may pass through the library

  void next_chunk(std::size_t& count) {
    count = file.read(chunk);
    bytes += count;
    if (bytes > most_bytes) {
      fail(ErrorKind::Data, "'{}' expands to more than the {} bytes that such an archive has",
           file.path(), most_bytes);
    }
  }
};

la_ssize_t read_source(archive* /*reader*/, void* context, const void** buffer) {
  auto* source = static_cast<Source*>(context);
  std::size_t count = 0;
  try {
    source->next_chunk(count);
  } catch (const Error& error) {
    source->error.emplace(error);
    return ARCHIVE_FATAL;
  }
  *buffer = source->chunk.data();
  return static_cast<la_ssize_t>(count);
}

struct FreeReader {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using Reader = std::unique_ptr<archive, FreeReader>;

[[noreturn]] void fail_to_read(const Source& source, archive* reader) {
  if (source.error) throw Error(*source.error);
  const char* reason = archive_error_string(reader);
  fail(ErrorKind::Data, "'{}' cannot be read as a tar archive: {}; get the file again",
       source.file.path(), reason != nullptr ? reason : "it is damaged");
}

Reader open_reader(Source& source) {
  Reader reader(archive_read_new());
  if (reader == nullptr) throw std::bad_alloc();
  const bool is_open =
      archive_read_support_format_tar(reader.get()) == ARCHIVE_OK &&
      archive_read_open(reader.get(), &source, nullptr, read_source, nullptr) == ARCHIVE_OK;
  if (!is_open) fail_to_read(source, reader.get());
  return reader;
}

bool leads_out(std::string_view name) {
  if (name.starts_with('/')) return true;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('/'));
    if (part == "..") return true;
    name.remove_prefix(std::min(name.size(), part.size() + 1));
  }
  return false;
}

// The name without its folders; empty where that is none.
std::string base_name(const std::string& archive_path, archive_entry* entry) {
  const char* text = archive_entry_pathname(entry);
  const std::string_view name = text != nullptr ? text : "";
  if (leads_out(name)) {
    fail(ErrorKind::Data,
         "archive '{}' holds a file whose name leads out of it ('{}'): it is not the known archive",
         archive_path, shown_text(name));
  }
  return std::string(name.substr(name.rfind('/') + 1));
}

std::vector<std::uint8_t> read_member(Source& source, archive* reader, const std::string& name,
                                      std::uint64_t most_bytes) {
  std::vector<std::uint8_t> bytes;
  while (true) {
    const std::size_t filled = bytes.size();
    bytes.resize(filled + kChunk);
    const la_ssize_t got = archive_read_data(reader, bytes.data() + filled, kChunk);
    if (got < 0) fail_to_read(source, reader);
    bytes.resize(filled + static_cast<std::size_t>(got));
    if (bytes.size() > most_bytes) {
      fail(ErrorKind::Data, "'{}' in archive '{}' has more than the {} bytes of such a file", name,
           source.file.path(), most_bytes);
    }
    if (got == 0) return bytes;
  }
}

void add_member(Source& source, archive* reader, archive_entry* entry,
                const ArchiveRequest& request, ArchiveFiles& files) {
  const std::string name = base_name(source.file.path(), entry);
  const std::int64_t size = archive_entry_size(entry);
  if (size < 0 || static_cast<std::uint64_t>(size) > request.most_bytes) {
    fail(ErrorKind::Data, "archive '{}' claims to hold a file of {} bytes, more than it may have",
         source.file.path(), size);
  }
  if (archive_entry_filetype(entry) == AE_IFDIR || !request.is_wanted(name)) return;
  if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr) {
    fail(ErrorKind::Data, "'{}' in archive '{}' is a link or device, not a file: get it again",
         name, source.file.path());
  }
  if (files.contains(name)) {
    fail(ErrorKind::Data, "archive '{}' holds '{}' twice: get it again", source.file.path(), name);
  }
  files[name] = read_member(source, reader, name, request.most_bytes_a_file);
}

}  // namespace

ArchiveFiles read_archive(const std::string& path, const ArchiveRequest& request) {
  Source source{.file = ExpandedFile(path), .most_bytes = request.most_bytes, .error = {}};
  const Reader reader = open_reader(source);
  ArchiveFiles files;
  for (int members = 0;; ++members) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) break;
    if (status < ARCHIVE_WARN || source.error) fail_to_read(source, reader.get());
    if (members == kMostMembers) {
      fail(ErrorKind::Data, "archive '{}' holds more than {} files: it is not the known archive",
           path, kMostMembers);
    }
    add_member(source, reader.get(), entry, request, files);
  }
  // Only the end of the file has its check sum.
  for (std::size_t count = 1; count > 0;) source.next_chunk(count);
  if (source.error) throw Error(*source.error);
  return files;
}

}  // namespace acgan
