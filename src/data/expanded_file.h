#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/input_file.h"

namespace acgan {

// The contents of a file from its beginning on, gunzipped where it is gzip (told by its first
// bytes, not by its name). Only what is asked for is read and expanded.
class ExpandedFile {
 public:
  explicit ExpandedFile(std::string path);  // throws Error{Data} where it cannot be opened
  ~ExpandedFile();
  ExpandedFile(const ExpandedFile&) = delete;
  ExpandedFile& operator=(const ExpandedFile&) = delete;

  const std::string& path() const { return file_.path(); }

  // Fills `bytes`, or what the contents still have of them; returns how many. Throws Error{Data}
  // where gzip data are damaged (check sum, length) or truncated.
  std::size_t read(std::span<std::uint8_t> bytes);

  // All that is left; throws Error{Data} beyond `limit` bytes, however small the file is.
  std::vector<std::uint8_t> read_all(std::uint64_t limit);

 private:
  struct Gzip;
  std::size_t read_plain(std::span<std::uint8_t> bytes);
  std::size_t inflate_into(std::span<std::uint8_t> bytes);
  bool begin_next_member();

  InputFile file_;
  std::uint64_t offset_ = 0;  // in the file
  std::unique_ptr<Gzip> gzip_;
};

}  // namespace acgan
