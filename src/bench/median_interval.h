#pragma once

#include <cstddef>
#include <vector>

namespace acgan {

// Where the median of what `values` were drawn from lies, from order statistics alone: no
// distribution is assumed, only that the draws do not depend on each other.
struct MedianInterval {
  double low = 0, median = 0, high = 0;

  double half_width() const { return (high - low) / 2; }
  // Half the interval as a share of the median.
  double spread() const { return median > 0 ? half_width() / median : 0; }
};

// The fewest values for which an interval of 95 % exists: the smallest and the largest of six.
inline constexpr std::size_t kFewestForInterval = 6;

// At least 95 %; of fewer than kFewestForInterval values it is all that they span.
MedianInterval median_interval(std::vector<double> values);

}  // namespace acgan
