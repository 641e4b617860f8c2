#include "base/check.h"
#include "data/cifar_pickle.h"
#include "data/pickle.h"
#include "fuzz/fuzz_target.h"

namespace acgan::fuzz {

void read_input(const Input& input) {
  const Pickle pickle({input.bytes.begin(), input.bytes.end()}, input.path);
  pickle.keys();
  if (pickle.has("labels")) pickle.integers("labels");
  if (pickle.has("label_names")) pickle.texts("label_names");
  if (pickle.has("data")) {
    const PickleArray& array = pickle.array("data");
    ACGAN_CHECK(array.data.size() == array.rows * array.columns);
  }
}

std::vector<Bytes> valid_inputs() {
  using test::PickleStyle;
  std::vector<Bytes> inputs;
  for (const PickleStyle style : {PickleStyle::Python2Protocol0, PickleStyle::Python2Protocol2,
                                  PickleStyle::Python3Protocol2, PickleStyle::Python3Protocol4}) {
    test::PickleWriter writer(style);
    writer.begin_dict().text("labels").integers({1, 2, 300});
    writer.text("label_names")
        .texts({"cat", "dog"})
        .text("data")
        .array(2, 3, {0, 1, 2, 9, 200, 255});
    inputs.push_back(writer.end_dict());
  }
  return inputs;
}

}  // namespace acgan::fuzz
