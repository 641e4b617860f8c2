#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace acgan {

// A regular file open for reading at any offset. Only what is asked for is read.
class InputFile {
 public:
  explicit InputFile(std::string path);  // throws Error{Data} where it cannot be opened
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // bytes

  // Fills `bytes` from `offset` on; throws Error{Data} where the file ends before.
  void read(std::uint64_t offset, std::span<std::uint8_t> bytes) const;

  // The whole file; throws Error{Data} where it has more than `limit` bytes.
  std::vector<std::uint8_t> read_all(std::uint64_t limit) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace acgan
