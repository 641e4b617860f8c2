#pragma once

#include <optional>
#include <vector>

#include "quality/feature_set.h"

namespace acgan {

// Share of each class's images in which the net sees that class; none where there is no image.
std::vector<std::optional<double>> accuracy_by_class(const FeatureSet& set, std::int64_t classes);

// Mean distance between the features of two different images of a class, over the first 1000 images
// of each; none for fewer than two.
std::vector<std::optional<double>> spread_by_class(const FeatureSet& set, std::int64_t classes);

// Mean of what is there; none where nothing is.
std::optional<double> mean_of(const std::vector<std::optional<double>>& values);

}  // namespace acgan
