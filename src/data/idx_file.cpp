#include "data/idx_file.h"

#include <array>
#include <span>

#include "base/error.h"
#include "data/expanded_file.h"

namespace acgan {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // MNIST has 47 MB, EMNIST 640 MB
constexpr std::uint8_t kUnsignedByte = 0x08;

void read_header(ExpandedFile& file, std::span<std::uint8_t> bytes) {
  if (file.read(bytes) == bytes.size()) return;
  fail(ErrorKind::Data, "'{}' is too short for an IDX file: it ends in its header", file.path());
}

std::vector<std::uint64_t> read_shape(ExpandedFile& file, std::size_t dimensions) {
  std::array<std::uint8_t, 4> word = {};
  read_header(file, word);
  if (word[0] != 0 || word[1] != 0 || word[2] != kUnsignedByte || word[3] != dimensions) {
    fail(ErrorKind::Data,
         "'{}' begins with the bytes {:02x} {:02x} {:02x} {:02x}; an IDX file of unsigned bytes in "
         "{} dimension{} begins with 00 00 08 {:02x}",
         file.path(), word[0], word[1], word[2], word[3], dimensions, dimensions == 1 ? "" : "s",
         dimensions);
  }
  std::vector<std::uint64_t> shape;
  for (std::size_t i = 0; i < dimensions; ++i) {
    read_header(file, word);
    std::uint64_t extent = 0;
    for (const std::uint8_t byte : word) extent = extent << 8 | byte;
    shape.push_back(extent);
  }
  return shape;
}

}  // namespace

IdxArray read_idx(const std::string& path, std::size_t dimensions) {
  ExpandedFile file(path);
  IdxArray array{.shape = read_shape(file, dimensions), .data = {}};
  std::uint64_t bytes = 1;
  for (const std::uint64_t extent : array.shape) {
    if (extent == 0 || bytes > kMostBytes / extent) {
      fail(ErrorKind::Data, "'{}' claims to be of shape ({}): 1 to {} bytes are read", path,
           fmt::join(array.shape, ", "), kMostBytes);
    }
    bytes *= extent;
  }
  array.data = file.read_all(bytes);
  if (array.data.size() < bytes) {
    fail(
        ErrorKind::Data,
        "'{}' is truncated: it has shape ({}), which is {} bytes, and holds {}; get the file again",
        path, fmt::join(array.shape, ", "), bytes, array.data.size());
  }
  return array;
}

}  // namespace acgan
