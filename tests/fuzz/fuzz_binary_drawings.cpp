#include "data/drawing_file.h"
#include "data/made_files.h"
#include "fuzz/class_file.h"
#include "fuzz/fuzz_target.h"

namespace acgan::fuzz {

void read_input(const Input& input) {
  read_class(*open_drawing_file(input.path, DrawingFormat::Binary));
}

std::vector<Bytes> valid_inputs() {
  Bytes two = test::binary_drawing({{{0, 0}, {255, 9}}, {{1, 2}}});
  const Bytes second = test::binary_drawing({{{7, 7}}}, 0);
  two.insert(two.end(), second.begin(), second.end());
  return {test::binary_drawing({{{1, 2}}}), two};
}

}  // namespace acgan::fuzz
