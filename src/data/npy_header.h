#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/byte_source.h"

namespace acgan {

enum class NpyOrder { C, Fortran };

// What the header of a NumPy .npy file says (format versions 1 to 3).
struct NpyHeader {
  std::string dtype;  // as written: "|u1", "<f4"; a structured one as its source text
  NpyOrder order = NpyOrder::C;
  std::vector<std::uint64_t> shape;
  std::uint64_t data_offset = 0;  // bytes before the first element
};

// Longest header that is read, with what stands before it; real ones have about 128 bytes.
inline constexpr std::uint64_t kMaxNpyHeaderBytes = (std::uint64_t{1} << 20) + 12;

// Throws Error{Data} where the source is not .npy or its header is damaged. The sizes in the header
// are not compared with the source: that needs the element size.
NpyHeader read_npy_header(const ByteSource& source);

// "(3600, 784)"
std::string format_shape(const std::vector<std::uint64_t>& shape);

}  // namespace acgan
