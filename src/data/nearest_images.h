#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"

namespace acgan {

struct NearestImage {
  std::int64_t index = -1;  // in the data set
  // Root of the mean squared difference of their bytes, 0 (equal) to 255.
  double difference = 0;
};

// For each of `images` [n,H,W,C], sized as the set's, the image of the set that differs least in
// its pixels, the first of equals.
std::vector<NearestImage> nearest_images(const Dataset& dataset,
                                         std::span<const std::uint8_t> images);
// For each of these images of the set the nearest other one (a set of at least two): how near real
// images come to each other is what the above is to be compared with.
std::vector<NearestImage> nearest_others(const Dataset& dataset,
                                         std::span<const std::int64_t> indices);

}  // namespace acgan
