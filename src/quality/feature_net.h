#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/dataset.h"
#include "nn/network.h"
#include "quality/feature_set.h"
#include "run/checkpoint.h"

namespace acgan {

// Raised whenever the same data would give another net: figures of different nets cannot be
// compared.
inline constexpr int kFeatureNetVersion = 1;
inline constexpr std::int64_t kFeatureWidth = 128;
inline constexpr std::uint64_t kFeatureNetSeed = 20260;  // its own: a run's seed decides nothing

struct FeatureNetShape {
  std::int64_t image_size = 28, channels = 1, classes = 10;
};

// A classifier of real images, whose last hidden layer gives the features that images are compared
// by:
//   trunk  image [S,S,C] -> convolutions 4x4 of stride 2 with batch norm -> features [128]
//   head   features -> class logits [K], F32
// Computes in F32.
class FeatureNet {
 public:
  FeatureNet(Backend& backend, const FeatureNetShape& shape);

  // From random weights, on real images alone, each moved by up to a fourteenth of its side: Adam
  // with a learning rate that falls to zero, for six epochs, but at least 300 and at most 3000
  // steps of 64 images. The same bits for the same data, backend and number of threads.
  void train(const Dataset& dataset);

  // images [N,S,S,C]; labels [N], or none where they are not known.
  FeatureSet extract(std::span<const std::uint8_t> images, std::span<const std::int32_t> labels);

  // Weights and running statistics, by name.
  Checkpoint save() const;
  // Throws Error{Output} where an array is missing or of another shape.
  void load(const Checkpoint& checkpoint);
  // Of all weights (16 hex digits): figures of equal nets can be compared.
  std::string id() const;

  const FeatureNetShape& shape() const { return shape_; }

 private:
  struct Training;

  Backend& backend_;
  FeatureNetShape shape_;
  Network trunk_{"trunk"}, head_{"head"};
};

}  // namespace acgan
