#pragma once

#include <cstddef>
#include <vector>

namespace acgan {

struct Point {
  double x = 0, y = 0;  // to the right, down
};

using Stroke = std::vector<Point>;  // at least one point

// One drawing of Google's "Quick, Draw!" data set.
struct Drawing {
  std::vector<Stroke> strokes;  // at least one; simplified: each coordinate in 0..255
  bool is_raw = false;          // as drawn: at any scale, to be simplified
};

// Drawings with more points are refused: real ones have a few hundred, and the time that it takes
// to fill crossing lines grows with the square of their number.
inline constexpr std::size_t kMaxDrawingPoints = 10000;

}  // namespace acgan
