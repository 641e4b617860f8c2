#include "data/nearest_images.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace acgan {
namespace {

// Sum of squared differences, or some number above `most` once it is.
std::int64_t squared_difference(const std::uint8_t* a, const std::uint8_t* b, std::size_t bytes,
                                std::int64_t most) {
  constexpr std::size_t kBlock = 256;  // whose sum fits into 32 bits
  std::int64_t sum = 0;
  for (std::size_t begin = 0; begin < bytes && sum <= most; begin += kBlock) {
    const std::size_t end = std::min(bytes, begin + kBlock);
    std::int32_t of_block = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::int32_t difference = a[i] - b[i];
      of_block += difference * difference;
    }
    sum += of_block;
  }
  return sum;
}

std::size_t image_bytes(const Dataset& dataset) {
  return static_cast<std::size_t>(dataset.height * dataset.width * dataset.channels);
}

NearestImage find_nearest(const Dataset& dataset, const std::uint8_t* image, std::int64_t itself) {
  const std::size_t bytes = image_bytes(dataset);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  NearestImage nearest;
  for (std::int64_t i = 0; i < dataset.count(); ++i) {
    if (i == itself) continue;
    const std::uint8_t* const other = &dataset.images[static_cast<std::size_t>(i) * bytes];
    const std::int64_t difference = squared_difference(image, other, bytes, least);
    if (difference >= least) continue;
    least = difference;
    nearest.index = i;
  }
  nearest.difference = std::sqrt(static_cast<double>(least) / static_cast<double>(bytes));
  return nearest;
}

}  // namespace

std::vector<NearestImage> nearest_images(const Dataset& dataset,
                                         std::span<const std::uint8_t> images) {
  const std::size_t bytes = image_bytes(dataset);
  ACGAN_CHECK(bytes > 0 && images.size() % bytes == 0 && dataset.count() > 0);
  std::vector<NearestImage> nearest(images.size() / bytes);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    nearest[i] = find_nearest(dataset, &images[i * bytes], -1);
  }
  return nearest;
}

std::vector<NearestImage> nearest_others(const Dataset& dataset,
                                         std::span<const std::int64_t> indices) {
  const std::size_t bytes = image_bytes(dataset);
  ACGAN_CHECK(dataset.count() > 1);
  std::vector<NearestImage> nearest(indices.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    const std::uint8_t* const image = &dataset.images[static_cast<std::size_t>(indices[i]) * bytes];
    nearest[i] = find_nearest(dataset, image, indices[i]);
  }
  return nearest;
}

}  // namespace acgan
