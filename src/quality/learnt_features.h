#pragma once

#include <string>

#include "quality/feature_source.h"

namespace acgan {

// The features of a FeatureNet that has learnt to classify `train`.
class LearntFeatures final : public FeatureSource {
 public:
  // Takes the net from `cache_folder` or trains it (load_or_train).
  LearntFeatures(Backend& backend, const Dataset& train, const std::string& cache_folder);
  FeatureSet extract(const ImageBatches& batches) override;
  FeatureNetFacts facts() const override { return facts_; }

 private:
  FeatureNet net_;
  FeatureNetFacts facts_;
};

}  // namespace acgan
