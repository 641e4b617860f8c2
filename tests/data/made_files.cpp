#include "data/made_files.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

#include "base/check.h"
#include "base/format.h"

namespace acgan::test {

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
  ACGAN_CHECK(archive_write_set_format_zip(writer.get()) == ARCHIVE_OK);
  const char* compression = packing == NpzPacking::Stored ? "store" : "deflate";
  ACGAN_CHECK(archive_write_set_format_option(writer.get(), "zip", "compression", compression) ==
              ARCHIVE_OK);
  ACGAN_CHECK(archive_write_open_memory(writer.get(), result.data(), result.size(), &used) ==
              ARCHIVE_OK);
  for (const auto& [name, bytes] : arrays) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), (name + ".npy").c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    ACGAN_CHECK(archive_write_header(writer.get(), entry.get()) == ARCHIVE_OK);
    ACGAN_CHECK(archive_write_data(writer.get(), bytes.data(), bytes.size()) ==
                static_cast<la_ssize_t>(bytes.size()));
  }
  ACGAN_CHECK(archive_write_close(writer.get()) == ARCHIVE_OK);
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

}  // namespace acgan::test
