
#include "base/error.h"
#include "data/idx_file.h"
#include "data/tar_files.h"
#include "fuzz/fuzz_target.h"

namespace acgan::fuzz {

void read_input(const Input& input) {
  for (const std::size_t dimensions : {1, 3}) {
    try {
      const IdxArray array = read_idx(input.path, dimensions);
      std::uint64_t bytes = 1;
      for (const std::uint64_t extent : array.shape) bytes *= extent;
      ACGAN_CHECK(array.data.size() == bytes);
    } catch (const Error& error) {
      ACGAN_CHECK(error.kind() == ErrorKind::Data);
    }
  }
}

std::vector<Bytes> valid_inputs() {
  Bytes images = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 4};
  images.resize(images.size() + 32, 99);
  const Bytes labels = {0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 9};
  return {images, labels, test::gzipped(images), test::gzipped(labels)};
}

}  // namespace acgan::fuzz
