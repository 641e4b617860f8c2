#include "base/check.h"
#include "data/archive.h"
#include "data/tar_files.h"
#include "fuzz/fuzz_target.h"

namespace acgan::fuzz {

void read_input(const Input& input) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  const ArchiveFiles files =
      read_archive(input.path, {.is_wanted = [](std::string_view name) { return name != "no"; },
                                .most_bytes_a_file = kMostBytes / 4,
                                .most_bytes = kMostBytes});
  for (const auto& [name, bytes] : files) {
    ACGAN_CHECK(name.find('/') == std::string::npos && name != "..");
    ACGAN_CHECK(bytes.size() <= kMostBytes / 4);
  }
}

std::vector<Bytes> valid_inputs() {
  const Bytes plain = test::tar({{"folder/", {}, '5'},
                                 {"folder/data_batch_1.bin", Bytes(700, 3)},
                                 {"../up", {1}},
                                 {"no", {2}},
                                 {"link", {}, '2', "/etc/passwd"}});
  const Bytes long_name = test::tar({{"././@LongLink", Bytes(120, 'n'), 'L'}, {"short", {5}}});
  const Bytes extended = test::tar(
      {{"PaxHeaders/x", {'1', '2', ' ', 'p', 'a', 't', 'h', '=', 'a', 'b', 'c', '\n'}, 'x'},
       {"x", {5}}});
  std::vector<Bytes> inputs;
  for (const Bytes& bytes : {plain, long_name, extended}) {
    inputs.push_back(bytes);
    inputs.push_back(test::gzipped(bytes));
  }
  return inputs;
}

}  // namespace acgan::fuzz
