#include "data/array_file.h"
#include "data/made_files.h"
#include "fuzz/class_file.h"
#include "fuzz/fuzz_target.h"

namespace acgan::fuzz {

void read_input(const Input& input) { read_class(*open_npz_file(input.path)); }

std::vector<Bytes> valid_inputs() {
  const Bytes images = test::npy(test::npy_dictionary("(3, 4, 5)"), Bytes(60, 200));
  const Bytes labels = test::npy(test::npy_dictionary("(3,)"), Bytes(3, 1));
  return {test::npz({{"x", images}, {"y", labels}}),
          test::npz({{"test", images}, {"train", images}}, test::NpzPacking::Stored)};
}

}  // namespace acgan::fuzz
