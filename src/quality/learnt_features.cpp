#include "quality/learnt_features.h"

#include "base/check.h"

namespace acgan {
namespace {

FeatureNetShape shape_of(const Dataset& dataset) {
  ACGAN_CHECK(dataset.height == dataset.width);
  return {.image_size = dataset.height,
          .channels = dataset.channels,
          .classes = static_cast<std::int64_t>(dataset.class_names.size())};
}

void append(const FeatureSet& part, FeatureSet& whole) {
  whole.width = part.width;
  whole.values.insert(whole.values.end(), part.values.begin(), part.values.end());
  whole.labels.insert(whole.labels.end(), part.labels.begin(), part.labels.end());
  whole.predicted.insert(whole.predicted.end(), part.predicted.begin(), part.predicted.end());
}

}  // namespace

LearntFeatures::LearntFeatures(Backend& backend, const Dataset& train,
                               const std::string& cache_folder)
    : net_(backend, shape_of(train)) {
  facts_.origin = load_or_train(net_, train, cache_folder);
  facts_.id = net_.id();
  facts_.width = kFeatureWidth;
  facts_.version = kFeatureNetVersion;
  facts_.seed = kFeatureNetSeed;
}

FeatureSet LearntFeatures::extract(const ImageBatches& batches) {
  FeatureSet set;
  batches([&](std::span<const std::uint8_t> images, std::span<const std::int32_t> labels) {
    append(net_.extract(images, labels), set);
  });
  return set;
}

}  // namespace acgan
