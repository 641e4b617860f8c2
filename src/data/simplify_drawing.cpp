#include "data/simplify_drawing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format.h"

namespace acgan {
namespace {

constexpr double kSide = 255;
constexpr double kTolerance = 2;
constexpr double kLeastExtent = 1e-6;  // of what is more than one dot
// Twenty seconds of drawing, as long as the game gives, cannot cross the sheet as often as this.
constexpr std::size_t kMaxSamples = 65536;

// Moves and scales all strokes to 0..255.
std::optional<std::string> align(std::vector<Stroke>& strokes) {
  Point least = strokes.front().front(), largest = least;
  for (const Stroke& stroke : strokes) {
    for (const Point& point : stroke) {
      least = {.x = std::min(least.x, point.x), .y = std::min(least.y, point.y)};
      largest = {.x = std::max(largest.x, point.x), .y = std::max(largest.y, point.y)};
    }
  }
  const double extent = std::max(largest.x - least.x, largest.y - least.y);
  if (!std::isfinite(extent)) return "its coordinates lie too far apart to be scaled";
  const double scale = extent < kLeastExtent ? 1 : kSide / extent;
  for (Stroke& stroke : strokes) {
    for (Point& point : stroke) {
      point = {.x = (point.x - least.x) * scale, .y = (point.y - least.y) * scale};
    }
  }
  return std::nullopt;
}

// Points at 0, 1, 2, ... units along the line, and its last one; `budget` is how many there may be.
std::optional<Stroke> resample(const Stroke& stroke, std::size_t budget) {
  Stroke samples = {stroke.front()};
  double walked = 0;  // up to the beginning of the segment
  for (std::size_t i = 1; i < stroke.size(); ++i) {
    const Point from = stroke[i - 1], to = stroke[i];
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    for (;;) {
      const auto next = static_cast<double>(samples.size());
      if (next > walked + length) break;
      if (samples.size() >= budget) return std::nullopt;
      const double share = (next - walked) / length;
      samples.push_back(
          {.x = from.x + share * (to.x - from.x), .y = from.y + share * (to.y - from.y)});
    }
    walked += length;
  }
  samples.push_back(stroke.back());
  return samples;
}

double distance_from_line(const Point& point, const Point& from, const Point& to) {
  const double dx = to.x - from.x, dy = to.y - from.y;
  const double length = std::hypot(dx, dy);
  if (length == 0) return std::hypot(point.x - from.x, point.y - from.y);
  return std::abs((point.x - from.x) * dy - (point.y - from.y) * dx) / length;
}

// Ramer (1972), Douglas and Peucker (1973). Of points that are equally far off the first one stays;
// what differs in its last digits only counts as equal.
Stroke thin_out(const Stroke& stroke) {
  constexpr double kEqual = 1e-9;
  std::vector<bool> stays(stroke.size(), false);
  stays.front() = stays.back() = true;
  std::vector<std::pair<std::size_t, std::size_t>> pending = {{0, stroke.size() - 1}};
  while (!pending.empty()) {
    const auto [begin, end] = pending.back();
    pending.pop_back();
    double largest = 0;
    std::size_t farthest = begin;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const double distance = distance_from_line(stroke[i], stroke[begin], stroke[end]);
      if (distance <= largest + kEqual) continue;
      largest = distance;
      farthest = i;
    }
    if (largest <= kTolerance) continue;
    stays[farthest] = true;
    pending.emplace_back(begin, farthest);
    pending.emplace_back(farthest, end);
  }
  Stroke thin;
  for (std::size_t i = 0; i < stroke.size(); ++i) {
    if (stays[i])
      thin.push_back({.x = std::nearbyint(stroke[i].x), .y = std::nearbyint(stroke[i].y)});
  }
  return thin;
}

}  // namespace

std::optional<std::string> simplify_drawing(Drawing& drawing) {
  if (auto reason = align(drawing.strokes)) return reason;
  std::size_t budget = kMaxSamples;
  for (Stroke& stroke : drawing.strokes) {
    const auto samples = resample(stroke, budget);
    if (!samples) {
      return fmt::format("its strokes are longer than {} times the drawing's longer side",
                         kMaxSamples / static_cast<std::size_t>(kSide));
    }
    budget -= std::min(budget, samples->size());
    stroke = thin_out(*samples);
  }
  drawing.is_raw = false;
  return std::nullopt;
}

}  // namespace acgan
