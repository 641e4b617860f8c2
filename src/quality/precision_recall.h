#pragma once

#include <cstdint>
#include <span>

namespace acgan {

struct PrecisionRecall {
  double precision = 0;  // share of the fakes that lie on the manifold of the real images
  double recall = 0;     // share of the real images that lie on the manifold of the fakes
};

// Improved precision and recall (Kynkaanniemi et al. 2019, section 2): a set's manifold is the
// union of balls around its rows [N, width], each as large as the distance to the `neighbors`-th
// nearest other row. Both sets have more rows than `neighbors`.
PrecisionRecall precision_recall(std::span<const float> real, std::span<const float> fake,
                                 std::int64_t width, int neighbors = 3);

}  // namespace acgan
