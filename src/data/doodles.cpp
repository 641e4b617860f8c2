#include "data/doodles.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "backend/philox.h"
#include "base/error.h"
#include "data/class_selection.h"
#include "data/doodle_pen.h"
#include "data/doodle_strokes.h"

namespace acgan {
namespace {

// Units of "Quick, Draw!": a drawing fills a box of 256 units with a margin of 24 around it and is
// drawn with a pen of 16 units.
constexpr float kBox = 256;
constexpr float kMargin = 24;
constexpr float kImage = kBox + 2 * kMargin;
constexpr float kPenWidth = 16;

bool is_mirrorable(std::string_view name) { return name == "cup" || name == "fish"; }

// Turns, shears and stretches all strokes about their middle, each a little.
void distort(bool may_mirror, Pen& pen, std::vector<Stroke>& strokes) {
  constexpr float kMaxTurn = 0.2f;  // radians
  const float mirror = may_mirror && pen.chance(0.5f) ? -1.0f : 1.0f;
  const float turn = kMaxTurn * (pen.between(-0.5f, 0.5f) + pen.between(-0.5f, 0.5f));
  const float shear = pen.between(-0.08f, 0.08f);
  const float stretch = pen.between(0.86f, 1.16f);
  const float cosine = std::cos(turn), sine = std::sin(turn);
  for (Stroke& stroke : strokes) {
    for (Point& point : stroke) {
      const float x = mirror * (point.x - 0.5f) * stretch + shear * (point.y - 0.5f);
      const float y = point.y - 0.5f;
      point = {x * cosine - y * sine, x * sine + y * cosine};
    }
  }
}

// Moves the strokes into the image: the larger side fills most of the box, and what is left of the
// image allows for some play.
void fit(Pen& pen, std::vector<Stroke>& strokes) {
  Point low = strokes.front().front(), high = low;
  for (const Stroke& stroke : strokes) {
    for (const Point point : stroke) {
      low = {std::min(low.x, point.x), std::min(low.y, point.y)};
      high = {std::max(high.x, point.x), std::max(high.y, point.y)};
    }
  }
  const float extent = std::max(high.x - low.x, high.y - low.y);
  const float scale = kBox * pen.between(0.8f, 1.0f) / extent;
  const auto placed = [&](float from, float to) {
    const float play = kImage - 2 * kPenWidth - (to - from) * scale;
    return kImage / 2 - (from + to) / 2 * scale + play * pen.between(-0.25f, 0.25f);
  };
  const float move_x = placed(low.x, high.x), move_y = placed(low.y, high.y);
  for (Stroke& stroke : strokes) {
    for (Point& point : stroke) point = {point.x * scale + move_x, point.y * scale + move_y};
  }
}

// A square image of pen coverage, 0..255.
struct Canvas {
  std::int64_t side;
  std::span<std::uint8_t> pixels;  // [side, side]
};

float squared_distance(Point point, Point a, Point b) {
  const float along_x = b.x - a.x, along_y = b.y - a.y;
  const float from_x = point.x - a.x, from_y = point.y - a.y;
  const float length2 = along_x * along_x + along_y * along_y;
  const float t =
      length2 > 0 ? std::clamp((from_x * along_x + from_y * along_y) / length2, 0.0f, 1.0f) : 0;
  const float dx = from_x - t * along_x, dy = from_y - t * along_y;
  return dx * dx + dy * dy;
}

// Covers what lies within `radius` pixels of the segment. Coverage falls over one pixel across the
// edge; the larger one stays where segments meet, which gives round joins and caps.
void draw_segment(Point a, Point b, float radius, const Canvas& canvas) {
  const float reach = radius + 0.5f;
  const auto clipped = [&](float position) {
    return static_cast<std::int64_t>(
        std::clamp(position, 0.0f, static_cast<float>(canvas.side - 1)));
  };
  const std::int64_t left = clipped(std::min(a.x, b.x) - reach);
  const std::int64_t right = clipped(std::max(a.x, b.x) + reach);
  const std::int64_t top = clipped(std::min(a.y, b.y) - reach);
  const std::int64_t bottom = clipped(std::max(a.y, b.y) + reach);
  for (std::int64_t y = top; y <= bottom; ++y) {
    for (std::int64_t x = left; x <= right; ++x) {
      const Point center = {static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f};
      const float distance2 = squared_distance(center, a, b);
      if (distance2 >= reach * reach) continue;
      const float coverage = std::min(1.0f, reach - std::sqrt(distance2));
      std::uint8_t& pixel = canvas.pixels[static_cast<std::size_t>(y * canvas.side + x)];
      pixel = std::max(pixel, static_cast<std::uint8_t>(std::lround(coverage * 255)));
    }
  }
}

void draw(const DoodleClass& doodle, PhiloxSequence& random, const Canvas& canvas) {
  Pen pen(random);
  doodle.draw(pen);
  std::vector<Stroke> strokes = pen.strokes();
  distort(is_mirrorable(doodle.name), pen, strokes);
  fit(pen, strokes);
  const float pixels = static_cast<float>(canvas.side) / kImage;
  const float radius = kPenWidth / 2 * pen.between(0.85f, 1.2f) * pixels;
  for (const Stroke& stroke : strokes) {
    for (std::size_t i = 1; i < stroke.size(); ++i) {
      const Point a = stroke[i - 1], b = stroke[i];
      draw_segment({a.x * pixels, a.y * pixels}, {b.x * pixels, b.y * pixels}, radius, canvas);
    }
  }
}

}  // namespace

Dataset load_doodles(const DataConfig& config, std::uint64_t seed) {
  ACGAN_CHECK(config.image_size > 0);
  std::vector<std::string> names;
  names.reserve(kDoodleClasses.size());
  for (const DoodleClass& doodle : kDoodleClasses) names.emplace_back(doodle.name);
  const std::int64_t per_class = limited(config.doodles_per_class, config.limit_per_class);
  Dataset dataset;
  dataset.height = dataset.width = config.image_size;
  dataset.channels = 1;
  const std::vector<std::size_t> selection =
      select_classes(config, names, "one of the built-in doodles");
  const auto pixels = static_cast<std::size_t>(config.image_size * config.image_size);
  dataset.images.resize(selection.size() * static_cast<std::size_t>(per_class) * pixels);
  std::span<std::uint8_t> rest = dataset.images;
  for (const std::size_t index : selection) {
    for (std::int64_t i = 0; i < per_class; ++i) {
      const auto number = static_cast<std::uint64_t>(index) << 32 | static_cast<std::uint64_t>(i);
      PhiloxSequence random(seed, RandomStream::Doodles, number);
      draw(kDoodleClasses[index], random,
           {.side = config.image_size, .pixels = rest.first(pixels)});
      rest = rest.subspan(pixels);
    }
    dataset.labels.insert(dataset.labels.end(), static_cast<std::size_t>(per_class),
                          static_cast<std::int32_t>(dataset.class_names.size()));
    dataset.class_names.push_back(names[index]);
  }
  dataset.description = fmt::format("doodles drawn by the program, {} of each class", per_class);
  return dataset;
}

}  // namespace acgan
