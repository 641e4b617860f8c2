#pragma once

#include <algorithm>

#include "base/check.h"
#include "data/class_images.h"

namespace acgan::fuzz {

// Reads all images of a file of one class, small so that a run is short, once without and once with
// a limit. What fits the reader must come as whole images, and a limit must only cut them.
inline void read_class(const ClassImages& file) {
  ImageRequest request{.side = 8, .channels = file.channels()};
  std::vector<std::uint8_t> images, first;
  file.append_to(images, request);
  const auto image_bytes = static_cast<std::size_t>(request.side * request.side * request.channels);
  ACGAN_CHECK(!images.empty() && images.size() % image_bytes == 0);
  request.limit = 1;
  file.append_to(first, request);
  ACGAN_CHECK(first.size() == image_bytes &&
              std::equal(first.begin(), first.end(), images.begin()));
}

}  // namespace acgan::fuzz
