#include "data/real_data.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/cifar.h"
#include "data/mnist.h"

namespace acgan {
namespace {

constexpr double kShareWhereNoneIsKept = 0.1;
constexpr std::int64_t kMostFreshDoodles = 1000;  // of a class
constexpr std::uint64_t kFreshSeed = 0x5EED0F0E7A1BA7Eu;

Dataset like(const Dataset& dataset) {
  return {.height = dataset.height,
          .width = dataset.width,
          .channels = dataset.channels,
          .class_names = dataset.class_names,
          .images = {},
          .labels = {},
          .description = dataset.description};
}

// Of the kinds that have one.
std::optional<Dataset> test_part(const DataConfig& config) {
  switch (config.kind) {
    case DataKind::Cifar10:
      return load_cifar10(config, CifarPart::Test);
    case DataKind::Cifar100:
      return load_cifar100(config, CifarPart::Test);
    case DataKind::Mnist:
    case DataKind::FashionMnist:
      return load_mnist(config, MnistPart::Test);
    case DataKind::QuickDraw:
    case DataKind::Folder:
    case DataKind::Doodles:
      break;
  }
  return std::nullopt;
}

Dataset fresh_doodles(DataConfig config, std::uint64_t seed) {
  config.doodles_per_class = std::min(config.doodles_per_class, kMostFreshDoodles);
  return load_dataset(config, seed ^ kFreshSeed);
}

void check_classes(const RealData& data) {
  const std::vector<std::int64_t> counts = data.held_out.counts_by_class();
  const auto empty = std::find(counts.begin(), counts.end(), 0);
  if (empty == counts.end()) return;
  fail(ErrorKind::Data,
       "class '{}' of the data set ({}) has no held-out image, so nothing can be judged by it: add "
       "images (at least 5 a class), raise data.held_out, or leave the class out of data.classes",
       data.held_out.class_names[static_cast<std::size_t>(empty - counts.begin())],
       data.train.description);
}

}  // namespace

// In place: the images are most of the memory that there is.
Dataset hold_out(Dataset& dataset, double share) {
  ACGAN_CHECK(share > 0 && share <= 0.5);
  Dataset held_out = like(dataset);
  const auto pixels =
      static_cast<std::ptrdiff_t>(dataset.height * dataset.width * dataset.channels);
  std::vector<double> number_in_class(dataset.class_names.size());
  auto image = dataset.images.begin(), free_image = image;
  auto free_label = dataset.labels.begin();
  for (const std::int32_t label : dataset.labels) {
    double& number = number_in_class[static_cast<std::size_t>(label)];
    const bool is_held_out =
        std::floor((number + 1) * share + 0.5) > std::floor(number * share + 0.5);
    number += 1;
    if (is_held_out) {
      held_out.images.insert(held_out.images.end(), image, image + pixels);
      held_out.labels.push_back(label);
    } else {
      free_image = std::copy(image, image + pixels, free_image);
      *free_label++ = label;
    }
    image += pixels;
  }
  dataset.images.erase(free_image, dataset.images.end());
  dataset.labels.erase(free_label, dataset.labels.end());
  return held_out;
}

RealData load_real_data(const DataConfig& config, std::uint64_t seed) {
  RealData data;
  DataConfig whole = config;
  whole.held_out = 0;
  data.train = load_dataset(whole, seed);
  if (std::optional<Dataset> test = test_part(config)) {
    data.fingerprint = fingerprint_of(data.train);
    data.held_out = std::move(*test);
    data.held_out_source = "the test part, never trained on";
  } else if (config.kind == DataKind::Doodles) {
    data.fingerprint = fingerprint_of(data.train);
    data.held_out = fresh_doodles(config, seed);
    data.held_out_source = "fresh drawings from another seed, never trained on";
  } else {
    data.generator_saw_held_out = config.held_out == 0;
    if (data.generator_saw_held_out) data.fingerprint = fingerprint_of(data.train);
    const double share = data.generator_saw_held_out ? kShareWhereNoneIsKept : config.held_out;
    data.held_out = hold_out(data.train, share);
    if (!data.generator_saw_held_out) data.fingerprint = fingerprint_of(data.train);
    data.held_out_source = fmt::format(
        "{:.3g} % of each class, {}", 100 * share,
        data.generator_saw_held_out ? "which the generator was trained on too (data.held_out is 0)"
                                    : "never trained on");
  }
  check_classes(data);
  return data;
}

}  // namespace acgan
