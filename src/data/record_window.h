#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/input_file.h"

namespace acgan {

// A stretch of a file that moves from its beginning to its end: what lies in it can be looked at
// before it is taken. Holds no more than was asked for and one block.
class RecordWindow {
 public:
  explicit RecordWindow(const InputFile& file) : file_(file) {}

  const std::string& path() const { return file_.path(); }
  std::uint64_t offset() const { return offset_; }  // of the window's first byte in the file
  bool at_end() const { return offset_ == file_.size(); }

  // Lets the window hold `bytes` bytes, or all up to the file's end where that comes earlier, and
  // returns what it holds.
  std::span<const std::uint8_t> look(std::uint64_t bytes);

  // Moves on; `bytes` of what look() returned.
  void skip(std::uint64_t bytes);

 private:
  const InputFile& file_;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;  // of the window in buffer_
  std::uint64_t offset_ = 0;
};

}  // namespace acgan
