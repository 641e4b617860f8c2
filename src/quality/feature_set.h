#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace acgan {

// What a feature net says about images, one row an image.
struct FeatureSet {
  std::int64_t width = 0;               // numbers a row
  std::vector<float> values;            // [N, width]
  std::vector<std::int32_t> labels;     // [N], the class an image should show; empty: not known
  std::vector<std::int32_t> predicted;  // [N], the class the net sees in it; empty: no classifier

  std::int64_t count() const {
    return width > 0 ? static_cast<std::int64_t>(values.size()) / width : 0;
  }
  std::span<const float> row(std::int64_t index) const {
    return std::span(values).subspan(static_cast<std::size_t>(index * width),
                                     static_cast<std::size_t>(width));
  }
};

}  // namespace acgan
