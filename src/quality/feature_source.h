#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "quality/feature_net_cache.h"
#include "quality/feature_set.h"

namespace acgan {

// What must be known of a feature net to compare figures.
struct FeatureNetFacts {
  std::string id;  // figures of equal ids (and scales) can be compared
  std::int64_t width = 0;
  // Of the net that learns from the real images:
  std::optional<int> version;
  std::optional<std::uint64_t> seed;
  FeatureNetOrigin origin;
  // Of a net in a file:
  std::optional<std::string> file, scale;
};

using VisitImages =
    std::function<void(std::span<const std::uint8_t> images, std::span<const std::int32_t> labels)>;
// Hands over images [n,H,W,C] of the real data's size, batch after batch, with their labels [n], or
// none where they are not known.
using ImageBatches = std::function<void(const VisitImages&)>;

// Turns images into the numbers by which they are compared.
class FeatureSource {
 public:
  virtual ~FeatureSource() = default;
  virtual FeatureSet extract(const ImageBatches& batches) = 0;
  virtual FeatureNetFacts facts() const = 0;  // known once something was extracted
};

}  // namespace acgan
