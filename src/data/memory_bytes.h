#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/byte_source.h"

namespace acgan {

// The beginning of something that has `size` bytes, held in memory.
class MemoryBytes final : public ByteSource {
 public:
  MemoryBytes(std::string path, std::uint64_t size, std::vector<std::uint8_t> begin)
      : path_(std::move(path)), size_(size), begin_(std::move(begin)) {}

  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::uint8_t> bytes) const override {
    if (offset > begin_.size() || bytes.size() > begin_.size() - offset) {
      fail(ErrorKind::Data, "'{}' is truncated: it ends at byte {} of {}: get the file again",
           path_, begin_.size(), size_);
    }
    std::copy_n(begin_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
  }

 private:
  std::string path_;
  std::uint64_t size_;
  std::vector<std::uint8_t> begin_;
};

}  // namespace acgan
