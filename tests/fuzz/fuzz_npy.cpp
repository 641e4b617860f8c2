#include "base/format.h"
#include "data/npy_header.h"
#include "fuzz/fuzz_target.h"

namespace acgan::fuzz {

void read_input(const Input& input) { read_npy_header(InputFile(input.path)); }

std::vector<Bytes> valid_inputs() {
  std::vector<Bytes> inputs;
  for (const int version : {1, 2}) {
    const std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 4, 4), }\n";
    Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(version), 0};
    bytes.push_back(static_cast<std::uint8_t>(text.size()));
    bytes.resize(version == 1 ? 10 : 12);
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.insert(bytes.end(), 16, 200);
    inputs.push_back(bytes);
  }
  return inputs;
}

}  // namespace acgan::fuzz
