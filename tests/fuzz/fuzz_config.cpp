#include "base/error.h"
#include "config/load_config.h"
#include "fuzz/fuzz_target.h"

namespace acgan::fuzz {
namespace {

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace

void read_input(const Input& input) {
  try {
    dump_config(load_config(input.path, {}));
  } catch (const Error& error) {
    ACGAN_CHECK(error.kind() == ErrorKind::Usage);  // the kind that bad configs deserve
  }
}

std::vector<Bytes> valid_inputs() {
  return {bytes_of(dump_config(Config{})),
          bytes_of("data: {kind: folder, path: 'a b', classes: [x, \"y\"]}\n"
                   "optimizer: {learning_rate: {d: 1e-3, g: 2.0e-4}}\n"
                   "train: {minutes: 90s, seed: random, device: cuda:1}\n"
                   "output:\n  sample_at:\n  - 1\n  - 2m\n"),
          bytes_of("data: &d {kind: doodles}\ntrain: {batch: !!int 4, steps: 0x10}\n# *d\n")};
}

}  // namespace acgan::fuzz
