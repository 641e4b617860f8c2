#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/input_file.h"

namespace acgan {

enum class NpyOrder { C, Fortran };

// What the header of a NumPy .npy file says (format versions 1 to 3).
struct NpyHeader {
  std::string dtype;  // as written: "|u1", "<f4"; a structured one as its source text
  NpyOrder order = NpyOrder::C;
  std::vector<std::uint64_t> shape;
  std::uint64_t data_offset = 0;  // bytes before the first element
};

// Throws Error{Data} where the file is not .npy or its header is damaged. The sizes in the header
// are not compared with the file: that needs the element size.
NpyHeader read_npy_header(const InputFile& file);

// "(3600, 784)"
std::string format_shape(const std::vector<std::uint64_t>& shape);

}  // namespace acgan
