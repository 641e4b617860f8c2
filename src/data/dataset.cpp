#include "data/dataset.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>

#include "base/error.h"
#include "data/cifar.h"
#include "data/doodles.h"
#include "data/image.h"
#include "data/image_folder.h"
#include "data/mnist.h"
#include "data/quickdraw.h"
#include "data/real_data.h"

namespace acgan {
namespace {

Dataset load_kind(const DataConfig& config, std::uint64_t seed) {
  switch (config.kind) {
    case DataKind::QuickDraw:
      return load_quickdraw(config);
    case DataKind::Cifar10:
      return load_cifar10(config, CifarPart::Train);
    case DataKind::Cifar100:
      return load_cifar100(config, CifarPart::Train);
    case DataKind::Mnist:
    case DataKind::FashionMnist:
      return load_mnist(config, MnistPart::Train);
    case DataKind::Folder:
      return load_image_folder(config);
    case DataKind::Doodles:
      return load_doodles(config, seed);
  }
  ACGAN_CHECK(!"unknown data kind");
  return {};
}

// Grey sets as RGB and the reverse, where data.channels asks for what the kind does not have.
void convert_channels(std::int64_t channels, Dataset& dataset) {
  if (channels == 0 || channels == dataset.channels) return;
  ACGAN_CHECK(channels == 1 || channels == 3);
  std::vector<std::uint8_t> converted;
  if (channels == 1) {
    converted.reserve(dataset.images.size() / 3);
    for (std::size_t i = 0; i < dataset.images.size(); i += 3) {
      converted.push_back(luma(dataset.images[i], dataset.images[i + 1], dataset.images[i + 2]));
    }
  } else {
    converted.reserve(dataset.images.size() * 3);
    for (const std::uint8_t grey : dataset.images) converted.insert(converted.end(), 3, grey);
  }
  dataset.images = std::move(converted);
  dataset.channels = channels;
  dataset.description += channels == 1 ? ", turned grey" : ", grey turned RGB";
}

// 64-bit hash in the manner of FNV-1a, eight bytes at a time, with a shift that lets the upper
// bits reach the lower ones. Finds accidents, not forgeries.
class Fingerprint {
 public:
  void add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 29;
  }
  void add(std::span<const std::uint8_t> bytes) {
    add(bytes.size());
    while (!bytes.empty()) {
      std::uint64_t word = 0;
      const std::size_t taken = std::min(bytes.size(), sizeof(word));
      std::memcpy(&word, bytes.data(), taken);
      add(word);
      bytes = bytes.subspan(taken);
    }
  }
  std::string hex() const { return fmt::format("{:016x}", state_); }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325u;
};

}  // namespace

std::vector<std::int64_t> Dataset::counts_by_class() const {
  std::vector<std::int64_t> counts(class_names.size(), 0);
  for (const std::int32_t label : labels) {
    ACGAN_CHECK(label >= 0 && static_cast<std::size_t>(label) < counts.size());
    ++counts[static_cast<std::size_t>(label)];
  }
  return counts;
}

Dataset load_dataset(const DataConfig& config, std::uint64_t seed) {
  ACGAN_CHECK(config.image_size > 0 && config.limit_per_class >= 0);
  if (config.only_recognized && config.kind != DataKind::QuickDraw) {
    fail(ErrorKind::Usage,
         "data.only_recognized is true, which only data.kind quickdraw knows: set it to false");
  }
  try {
    Dataset dataset = load_kind(config, seed);
    convert_channels(config.channels, dataset);
    ACGAN_CHECK(static_cast<std::int64_t>(dataset.images.size()) ==
                dataset.count() * dataset.height * dataset.width * dataset.channels);
    if (config.held_out > 0) hold_out(dataset, config.held_out);
    return dataset;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  const bool is_built_in = config.kind == DataKind::Doodles;
  fail(ErrorKind::Data, "the {} not fit into memory: set {} or name fewer classes in data.classes",
       is_built_in ? "built-in doodles do" : fmt::format("data set in '{}' does", config.path),
       is_built_in ? "data.doodles_per_class lower" : "data.limit_per_class");
}

void check_dataset(const Dataset& dataset, std::int64_t batch) {
  const std::vector<std::int64_t> counts = dataset.counts_by_class();
  const auto empty = std::find(counts.begin(), counts.end(), 0);
  if (empty != counts.end()) {
    fail(ErrorKind::Data,
         "class '{}' has no image in the data set ({}): add images or leave it out of data.classes",
         dataset.class_names[static_cast<std::size_t>(empty - counts.begin())],
         dataset.description);
  }
  if (dataset.count() > std::numeric_limits<std::int32_t>::max()) {
    fail(ErrorKind::Data,
         "the data set ({}) has {} images, at most 2147483647 are supported: set "
         "data.limit_per_class",
         dataset.description, dataset.count());
  }
  if (dataset.count() < batch) {
    fail(ErrorKind::Data,
         "train.batch is {}, but the data set ({}) has only {} images: set train.batch to {} or "
         "less, or use more data",
         batch, dataset.description, dataset.count(), dataset.count());
  }
}

std::string fingerprint_of(const Dataset& dataset) {
  const auto bytes_of = [](const auto& values) {
    return std::span(reinterpret_cast<const std::uint8_t*>(values.data()),
                     values.size() * sizeof(values[0]));
  };
  Fingerprint fingerprint;
  for (const std::int64_t extent : {dataset.height, dataset.width, dataset.channels}) {
    fingerprint.add(static_cast<std::uint64_t>(extent));
  }
  for (const std::string& name : dataset.class_names) fingerprint.add(bytes_of(name));
  fingerprint.add(bytes_of(dataset.labels));
  fingerprint.add(bytes_of(dataset.images));
  return fingerprint.hex();
}

}  // namespace acgan
