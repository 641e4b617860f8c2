#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace acgan {

// An array of bytes as MNIST's IDX files hold it.
struct IdxArray {
  std::vector<std::uint64_t> shape;
  std::vector<std::uint8_t> data;  // as many bytes as the product of `shape`
};

// Reads an IDX file of unsigned bytes (magic 00 00 08 and the number of dimensions, then each as a
// 32-bit big-endian number, then the bytes), gzipped or not. Throws Error{Data} where it is
// something else, has another number of dimensions, or does not hold what its header claims; no
// more memory is taken than the file has contents.
IdxArray read_idx(const std::string& path, std::size_t dimensions);

}  // namespace acgan
