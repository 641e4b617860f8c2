#include "bench/median_interval.h"

#include <algorithm>
#include <cmath>

#include "run/stats_log.h"

namespace acgan {
namespace {

constexpr double kOutside = 0.05;

// The largest k with P(fewer than k of n draws lie below the median) <= kOutside / 2, at least 1;
// the interval is then from the k-th smallest value to the k-th largest.
std::size_t rank_of_bound(std::size_t n) {
  const auto count = static_cast<double>(n);
  double below = 0;  // P(Binomial(n, 1/2) <= k - 1)
  std::size_t rank = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const auto chosen = static_cast<double>(k);
    below += std::exp(std::lgamma(count + 1) - std::lgamma(chosen + 1) -
                      std::lgamma(count - chosen + 1) - count * std::log(2.0));
    if (below > kOutside / 2) break;
    rank = k + 1;
  }
  return std::max<std::size_t>(rank, 1);
}

}  // namespace

MedianInterval median_interval(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t rank = rank_of_bound(values.size());
  MedianInterval interval{.low = values[rank - 1], .high = values[values.size() - rank]};
  interval.median = quantile(std::move(values), 0.5);
  return interval;
}

}  // namespace acgan
