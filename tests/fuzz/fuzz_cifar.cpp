#include <array>

#include "base/check.h"
#include "data/cifar_pickle.h"
#include "data/cifar_records.h"
#include "fuzz/fuzz_target.h"

namespace acgan::fuzz {
namespace {

// The first byte of an input says what the others are.
CifarFormat format_of(std::uint8_t byte) {
  return {.set = (byte & 1) != 0 ? CifarSet::Cifar100 : CifarSet::Cifar10,
          .version = (byte & 2) != 0 ? CifarVersion::Python : CifarVersion::Binary,
          .labels = (byte & 4) != 0 ? Cifar100Labels::Coarse : Cifar100Labels::Fine};
}

}  // namespace

void read_input(const Input& input) {
  if (input.bytes.empty()) return;
  const std::uint8_t kind = input.bytes[0];
  const CifarFormat format = format_of(kind);
  Bytes bytes(input.bytes.begin() + 1, input.bytes.end());
  if ((kind & 8) != 0) {
    ACGAN_CHECK(decode_cifar_names(std::move(bytes), input.path, format).size() ==
                format.classes());
    return;
  }
  const CifarRecords records = decode_cifar_records(std::move(bytes), input.path, format);
  ACGAN_CHECK(!records.labels.empty());
  for (std::size_t n = 0; n < records.labels.size(); ++n) {
    ACGAN_CHECK(records.labels[n] < format.classes());
    ACGAN_CHECK(records.planes(n).size() == 3072);
  }
}

std::vector<Bytes> valid_inputs() {
  const Bytes image(3072, 77);
  std::vector<Bytes> inputs;
  const auto add = [&](std::uint8_t kind, const Bytes& bytes) {
    inputs.emplace_back(1, kind);
    inputs.back().insert(inputs.back().end(), bytes.begin(), bytes.end());
  };
  for (const std::size_t labels : {1, 2}) {
    Bytes record(labels, 3);
    record.insert(record.end(), image.begin(), image.end());
    add(labels == 1 ? 0 : 1, record);
    add(labels == 1 ? 0 : 5, record);
  }
  using test::PickleStyle;
  add(2, test::cifar_pickle(PickleStyle::Python2Protocol2, "labels", {3}, image));
  add(3, test::cifar_pickle(PickleStyle::Python2Protocol2, "fine_labels", {3}, image));
  add(7, test::cifar_pickle(PickleStyle::Python3Protocol4, "coarse_labels", {3}, image));
  const std::string names = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
  add(8, Bytes(names.begin(), names.end()));
  test::PickleWriter writer(PickleStyle::Python2Protocol2);
  writer.begin_dict().text("label_names").texts({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"});
  add(10, writer.end_dict());
  return inputs;
}

}  // namespace acgan::fuzz
