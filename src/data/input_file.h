#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/byte_source.h"

namespace acgan {

// A regular file open for reading at any offset. Only what is asked for is read, straight into the
// place where it is wanted. It is not mapped into memory: of a mapped file that somebody makes
// shorter, a read ends the program (SIGBUS), where this one is an error with a sentence.
class InputFile final : public ByteSource {
 public:
  explicit InputFile(std::string path);  // throws Error{Data} where it cannot be opened
  ~InputFile() override;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, std::span<std::uint8_t> bytes) const override;

  // The whole file; throws Error{Data} where it has more than `limit` bytes.
  std::vector<std::uint8_t> read_all(std::uint64_t limit) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace acgan
