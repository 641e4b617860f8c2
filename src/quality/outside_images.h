#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace acgan {

inline constexpr std::int64_t kMostJudgedImages = 100000;

// Images that another program made, to be judged.
struct OutsideImages {
  std::vector<std::uint8_t> pixels;  // [N,H,W,C] as in the real data
  std::vector<std::int32_t> labels;  // [N] by the real data's classes; empty: not known
};

// From `path`: a folder with one folder a class named as in `real` (PNG, JPEG or BMP, resized), or
// a .npy of uint8 [N,H,W], [N,H,W,C] or [N,H*W] of exactly the real images' size; `labels_path`, if
// any, is a .npy of N integers that belongs to it. Throws Error{Data} where something else is
// found, or more than kMostJudgedImages in a .npy.
OutsideImages load_outside_images(const std::string& path,
                                  const std::optional<std::string>& labels_path,
                                  const Dataset& real);

}  // namespace acgan
