#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backend/buffer.h"

namespace acgan::test {

// Values as a tensor stores them (rounded to its dtype), and back.
std::vector<std::byte> encode(const std::vector<double>& values, DType dtype);
std::vector<double> decode(const std::vector<std::byte>& bytes, DType dtype);
std::vector<double> rounded(const std::vector<double>& values, DType dtype);

// Where the first element lies. Views into flat arrays begin anywhere, so operations must not
// count on more than the alignment of one element.
enum class Placement { Aligned, OffByOne };

// A tensor in a backend's memory between two guard bands. Guards and fresh contents are all ones:
// NaN in every floating dtype, so that reading outside, or an output that was not written, shows.
class GuardedTensor {
 public:
  GuardedTensor(Backend& backend, const Shape& shape, DType dtype,
                Placement placement = Placement::Aligned);

  const Tensor& view() const { return view_; }
  void write(const std::vector<double>& values);
  std::vector<double> read() const;
  std::vector<std::byte> read_bytes() const;
  bool guards_intact() const;

 private:
  std::vector<std::byte> read_buffer() const;

  Backend* backend_;
  std::size_t offset_;  // of the tensor in the buffer, bytes
  Buffer buffer_;
  Tensor view_;
};

}  // namespace acgan::test
