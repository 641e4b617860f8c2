#include "data/data_files.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <memory>

#include "base/error.h"

namespace acgan::test {

TemporaryFolder::TemporaryFolder() {
  static std::atomic<int> counter = 0;
  path_ = std::filesystem::temp_directory_path() /
          fmt::format("acgan_data_{}_{}", ::getpid(), counter++);
  std::filesystem::create_directory(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void TemporaryFolder::write(const std::string& name, const Bytes& bytes) const {
  write(name, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void TemporaryFolder::write(const std::string& name, std::string_view text) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::ofstream file(path_ / name, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  REQUIRE(file.good());
}

void TemporaryFolder::make_folder(const std::string& name) const {
  std::filesystem::create_directories(path_ / name);
}

void TemporaryFolder::make_link(const std::string& name, const std::string& target) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::filesystem::create_symlink(target, path_ / name);
}

void TemporaryFolder::make_pipe(const std::string& name) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  REQUIRE(::mkfifo((path_ / name).c_str(), 0600) == 0);
}

void TemporaryFolder::remove(const std::string& name) const {
  std::filesystem::remove_all(path_ / name);
}

void TemporaryFolder::resize(const std::string& name, std::uint64_t bytes) const {
  std::filesystem::resize_file(path_ / name, bytes);
}

Bytes npy(std::string_view header, const Bytes& data, int version) {
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::string text(header);
  while ((8 + length_bytes + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(version), 0};
  for (std::size_t i = 0; i < length_bytes; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(text.size() >> (8 * i)));
  }
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

std::string npy_dictionary(std::string_view shape) {
  return fmt::format("{{'descr': '|u1', 'fortran_order': False, 'shape': {}, }}", shape);
}

Bytes npz(const std::vector<std::pair<std::string, Bytes>>& arrays, NpzPacking packing) {
  std::size_t room = 4096;
  for (const auto& [name, bytes] : arrays) room += bytes.size() + bytes.size() / 16 + 1024;
  Bytes result(room);
  std::size_t used = 0;
  const std::unique_ptr<archive, int (*)(archive*)> writer(archive_write_new(), archive_write_free);
  REQUIRE(archive_write_set_format_zip(writer.get()) == ARCHIVE_OK);
  const char* compression = packing == NpzPacking::Stored ? "store" : "deflate";
  REQUIRE(archive_write_set_format_option(writer.get(), "zip", "compression", compression) ==
          ARCHIVE_OK);
  REQUIRE(archive_write_open_memory(writer.get(), result.data(), result.size(), &used) ==
          ARCHIVE_OK);
  for (const auto& [name, bytes] : arrays) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), (name + ".npy").c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    REQUIRE(archive_write_header(writer.get(), entry.get()) == ARCHIVE_OK);
    REQUIRE(archive_write_data(writer.get(), bytes.data(), bytes.size()) ==
            static_cast<la_ssize_t>(bytes.size()));
  }
  REQUIRE(archive_write_close(writer.get()) == ARCHIVE_OK);
  result.resize(used);
  return result;
}

Bytes binary_drawing(const std::vector<BinaryStroke>& strokes, int recognized) {
  Bytes bytes(17);
  const auto put_u16 = [](std::uint8_t* where, std::size_t value) {
    where[0] = static_cast<std::uint8_t>(value);
    where[1] = static_cast<std::uint8_t>(value >> 8);
  };
  bytes[10] = static_cast<std::uint8_t>(recognized);
  put_u16(&bytes[15], strokes.size());
  for (const BinaryStroke& stroke : strokes) {
    bytes.resize(bytes.size() + 2);
    put_u16(&bytes[bytes.size() - 2], stroke.size());
    for (const auto& point : stroke) bytes.push_back(static_cast<std::uint8_t>(point.first));
    for (const auto& point : stroke) bytes.push_back(static_cast<std::uint8_t>(point.second));
  }
  return bytes;
}

Bytes pattern(std::size_t count, int salt) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::uint8_t>((i * 31 + i / 251 + static_cast<std::size_t>(salt) * 97));
  }
  return bytes;
}

Bytes concatenated(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace acgan::test
