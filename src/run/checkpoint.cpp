#include "run/checkpoint.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "base/checksum.h"
#include "base/error.h"
#include "run/safetensors_header.h"

namespace acgan {
namespace {

constexpr const char* kChecksum = "checksum";
constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);  // the header's length comes first
// Ours have some ten KiB; parsing takes a multiple of the header, so a hostile one is not tried.
constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{16} << 20;

std::string checksum_of(const std::map<std::string, Checkpoint::Array>& arrays,
                        const std::map<std::string, std::string>& texts) {
  Checksum checksum;
  for (const auto& [name, array] : arrays) {
    checksum.add(name);
    checksum.add(name_of(array.type));
    checksum.add(std::as_bytes(std::span(array.shape)));
    checksum.add(array.bytes);
  }
  for (const auto& [key, value] : texts) {
    checksum.add(key);
    checksum.add(value);
  }
  return fmt::format("{:016x}", checksum.value());
}

// The named arrays in the order of the file: widest types first, so that all are aligned.
using NamedArray = std::pair<const std::string, Checkpoint::Array>;
std::vector<const NamedArray*> file_order(const std::map<std::string, Checkpoint::Array>& arrays) {
  std::vector<const NamedArray*> order;
  order.reserve(arrays.size());
  for (const NamedArray& named : arrays) order.push_back(&named);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [](const NamedArray* named) { return size_of(named->second.type); });
  return order;
}

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// A checkpoint file while it is read from front to back.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    std::error_code error;
    const auto type = std::filesystem::status(path, error).type();
    if (type == std::filesystem::file_type::not_found) {
      fail(ErrorKind::Output, "there is no checkpoint {}; give the path of a .safetensors file",
           path);
    }
    // Opening a pipe or a device would wait or never end.
    if (type != std::filesystem::file_type::regular) {
      fail(ErrorKind::Output, "{} is no regular file; give the path of a .safetensors file", path);
    }
    size_ = std::filesystem::file_size(path, error);
    file_.open(path, std::ios::binary);
    if (error || !file_) fail(ErrorKind::Output, "cannot read {}; check its permissions", path);
    // A file with holes may be any size.
    if (const std::uint64_t memory = physical_memory(); size_ > memory) {
      fail(ErrorKind::Output,
           "{} has {} bytes, more than this machine's memory ({}); use another checkpoint", path,
           size_, memory);
    }
  }

  SafetensorsHeader read_header() {
    if (size_ < kLengthBytes) {
      reject_checkpoint(path_, fmt::format("it has {} bytes, too few for a header", size_));
    }
    std::uint64_t length = 0;
    read_into(std::as_writable_bytes(std::span(&length, 1)));
    if (length > size_ - kLengthBytes || length > kMaxHeaderBytes) {
      reject_checkpoint(path_, fmt::format("it announces a header of {} bytes, but the whole file "
                                           "has {}, and a header has {} at most",
                                           length, size_, kMaxHeaderBytes));
    }
    std::string text(length, '\0');
    read_into(std::as_writable_bytes(std::span(text)));
    return parse_header(text, size_ - kLengthBytes - length, path_);
  }

  std::vector<std::byte> read_bytes(std::uint64_t count) {
    std::vector<std::byte> bytes(count);
    read_into(bytes);
    return bytes;
  }

 private:
  void read_into(std::span<std::byte> target) {
    file_.read(reinterpret_cast<char*>(target.data()), static_cast<std::streamsize>(target.size()));
    if (!file_) reject_checkpoint(path_, "it cannot be read to its end");
  }

  const std::string& path_;
  std::uint64_t size_ = 0;
  std::ifstream file_;
};

}  // namespace

void Checkpoint::set(const std::string& name, Type type, std::vector<std::int64_t> shape,
                     const void* data) {
  const std::optional<std::uint64_t> bytes = byte_count(type, shape);
  ACGAN_CHECK(bytes.has_value() && (data != nullptr || *bytes == 0));
  Array& array = arrays_[name];
  array.type = type;
  array.shape = std::move(shape);
  const auto* const first = static_cast<const std::byte*>(data);
  array.bytes.assign(first, first + *bytes);
}

void Checkpoint::set_text(const std::string& key, const std::string& value) {
  ACGAN_CHECK(key != kChecksum);
  texts_[key] = make_utf8(value);
}

std::size_t Checkpoint::byte_size() const {
  std::size_t size = 0;
  for (const auto& [name, array] : arrays_) size += array.bytes.size();
  return size;
}

bool Checkpoint::has(const std::string& name) const { return arrays_.contains(name); }
bool Checkpoint::has_text(const std::string& key) const { return texts_.contains(key); }

const Checkpoint::Array& Checkpoint::at(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) {
    fail(ErrorKind::Output, "{} has no array \"{}\"; it was written by another version or program",
         source_, name);
  }
  return found->second;
}

const std::string& Checkpoint::text(const std::string& key) const {
  const auto found = texts_.find(key);
  if (found == texts_.end()) {
    fail(ErrorKind::Output,
         "{} has no \"{}\" in its metadata; it was written by another version or program", source_,
         key);
  }
  return found->second;
}

void Checkpoint::save(const std::string& path) const {
  SafetensorsHeader header{.arrays = {}, .texts = texts_};
  header.texts[kChecksum] = checksum_of(arrays_, texts_);
  std::vector<std::span<const std::byte>> pieces(2);  // length and header; then the arrays
  std::uint64_t position = 0;
  for (const NamedArray* named : file_order(arrays_)) {
    const auto& [name, array] = *named;
    const std::uint64_t end = position + array.bytes.size();
    header.arrays.push_back(
        {.name = name, .type = array.type, .shape = array.shape, .begin = position, .end = end});
    pieces.emplace_back(array.bytes);
    position = end;
  }
  const std::string text = format_header(header);
  const std::uint64_t length = text.size();
  pieces[0] = std::as_bytes(std::span(&length, 1));
  pieces[1] = std::as_bytes(std::span(text));
  write_file_atomically(path, pieces);
}

std::map<std::string, std::string> Checkpoint::load_texts(const std::string& path) {
  std::map<std::string, std::string> texts = Reader(path).read_header().texts;
  texts.erase(kChecksum);
  return texts;
}

Checkpoint Checkpoint::load(const std::string& path) {
  Reader reader(path);
  SafetensorsHeader header = reader.read_header();
  Checkpoint checkpoint;
  checkpoint.source_ = path;
  for (SafetensorsHeader::Entry& entry : header.arrays) {
    checkpoint.arrays_[entry.name] = {.type = entry.type,
                                      .shape = std::move(entry.shape),
                                      .bytes = reader.read_bytes(entry.end - entry.begin)};
  }
  // Other programs write none.
  const auto checksum = header.texts.extract(kChecksum);
  checkpoint.texts_ = std::move(header.texts);
  checkpoint.has_checksum_ = !checksum.empty();
  if (!checksum.empty() &&
      checksum.mapped() != checksum_of(checkpoint.arrays_, checkpoint.texts_)) {
    reject_checkpoint(path, "its checksum does not match its content");
  }
  return checkpoint;
}

}  // namespace acgan
