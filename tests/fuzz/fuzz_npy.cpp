#include "data/array_file.h"
#include "data/made_files.h"
#include "fuzz/class_file.h"
#include "fuzz/fuzz_target.h"

namespace acgan::fuzz {

void read_input(const Input& input) { read_class(*open_npy_file(input.path)); }

std::vector<Bytes> valid_inputs() {
  const std::string in_columns = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 6, 5, 3), }";
  return {test::npy(test::npy_dictionary("(1, 784)"), Bytes(784, 200)),
          test::npy(test::npy_dictionary("(3, 4, 4)"), Bytes(48, 200), 2),
          test::npy(in_columns, Bytes(180, 200), 3)};
}

}  // namespace acgan::fuzz
