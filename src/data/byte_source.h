#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace acgan {

// Bytes that can be read at any offset: a file, or a part of an archive.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual const std::string& path() const = 0;  // what messages call it
  virtual std::uint64_t size() const = 0;       // bytes

  // Fills `bytes` from `offset` on; throws Error{Data} where the source ends before.
  virtual void read(std::uint64_t offset, std::span<std::uint8_t> bytes) const = 0;
};

}  // namespace acgan
