#include "data/drawing_file.h"
#include "data/made_files.h"
#include "fuzz/class_file.h"
#include "fuzz/fuzz_target.h"

namespace acgan::fuzz {

void read_input(const Input& input) {
  read_class(*open_drawing_file(input.path, DrawingFormat::Ndjson));
}

std::vector<Bytes> valid_inputs() {
  const std::string_view lines[] = {
      R"({"word":"cat","recognized":true,"drawing":[[[0,128,255],[0,100,60]],[[30],[40]]]})",
      R"({"drawing":[[[0,255],[9,9]]],"recognized":false,"a":{"b":[1,null,"x"]}})"
      "\n"
      R"({"drawing":[[[-1e3,1e3,7.5],[0,1,2],[0,20,31]],[[3],[4],[0]]]})"
      "\n"};
  std::vector<Bytes> inputs;
  for (const std::string_view text : lines) inputs.emplace_back(text.begin(), text.end());
  return inputs;
}

}  // namespace acgan::fuzz
