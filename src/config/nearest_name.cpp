#include "config/nearest_name.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace acgan {

namespace {

std::string_view last_part(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// Beyond this, letters no longer matter, and a hostile key must not cost quadratic time.
constexpr std::size_t kLongestName = 100;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replaced, last[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  ACGAN_CHECK(!candidates.empty());
  name = name.substr(0, kLongestName);
  std::size_t best = std::numeric_limits<std::size_t>::max();
  const std::string* nearest = nullptr;
  for (const std::string& candidate : candidates) {
    const std::size_t whole = edit_distance(name, candidate);
    std::size_t distance = 2 * whole;
    // Only names that share a letter count in another section; a whole match wins a tie.
    const std::string_view part = last_part(name), known = last_part(candidate);
    const std::size_t parts = edit_distance(part, known);
    if (parts < std::max(part.size(), known.size())) {
      distance = std::min(distance, 2 * (parts + 1) + 1);
    }
    if (distance >= best) continue;
    best = distance;
    nearest = &candidate;
  }
  return *nearest;
}

}  // namespace acgan
