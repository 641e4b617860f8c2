#include "data/doodle_pen.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace acgan {
namespace {

constexpr float kStep = 0.06f;  // distance of points on straight pieces
constexpr float kTurn = 2 * std::numbers::pi_v<float>;

float distance(Point a, Point b) { return std::hypot(b.x - a.x, b.y - a.y); }

Point mix(Point a, Point b, float t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }

void append_line(Point from, Point to, Stroke& stroke) {
  const int pieces = std::max(1, static_cast<int>(std::ceil(distance(from, to) / kStep)));
  for (int i = stroke.empty() ? 0 : 1; i <= pieces; ++i) {
    stroke.push_back(mix(from, to, static_cast<float>(i) / static_cast<float>(pieces)));
  }
}

// Catmull-Rom: the cubic from b to c with the slopes of a->c and b->d.
Point catmull_rom(Point a, Point b, Point c, Point d, float t) {
  const auto blend = [t](float p, float q, float r, float s) {
    return q + 0.5f * t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p)));
  };
  return {blend(a.x, b.x, c.x, d.x), blend(a.y, b.y, c.y, d.y)};
}

}  // namespace

Point on_ellipse(Point center, float radius_x, float radius_y, float turns) {
  return {center.x + radius_x * std::cos(turns * kTurn),
          center.y + radius_y * std::sin(turns * kTurn)};
}

Pen::Pen(PhiloxSequence& random) : random_(random) {
  tremor_ = between(0.002f, 0.02f);
  carelessness_ = between(0.0f, 0.04f);
}

int Pen::count_between(int low, int high) {
  return low + static_cast<int>(random_.next_below(static_cast<std::uint32_t>(high - low + 1)));
}

void Pen::line(Point from, Point to) {
  const auto missed = [this](Point point) {
    return Point{point.x + between(-carelessness_, carelessness_),
                 point.y + between(-carelessness_, carelessness_)};
  };
  const Point begin = missed(from), end = missed(to);
  Stroke stroke;
  append_line(begin, end, stroke);
  // A slight bow: hands turn around the wrist.
  const float bow = between(-0.04f, 0.04f);
  const Point along = {to.x - from.x, to.y - from.y};
  for (std::size_t i = 0; i < stroke.size(); ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(stroke.size() - 1);
    stroke[i].x -= along.y * bow * 4 * t * (1 - t);
    stroke[i].y += along.x * bow * 4 * t * (1 - t);
  }
  add(std::move(stroke));
}

void Pen::polyline(const std::vector<Point>& points) {
  Stroke stroke;
  Point from = points.front();
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point to = {points[i].x + between(-carelessness_, carelessness_),
                      points[i].y + between(-carelessness_, carelessness_)};
    append_line(from, to, stroke);
    from = to;
  }
  add(std::move(stroke));
}

void Pen::polygon(const std::vector<Point>& points) {
  if (chance(0.3f)) {
    for (std::size_t i = 0; i < points.size(); ++i)
      line(points[i], points[(i + 1) % points.size()]);
    return;
  }
  std::vector<Point> closed = points;
  closed.push_back(points.front());
  polyline(closed);
}

void Pen::curve(const std::vector<Point>& points) {
  const auto at = [&](std::size_t index) { return points[std::min(index, points.size() - 1)]; };
  Stroke stroke = {points.front()};
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const int pieces =
        std::max(2, static_cast<int>(std::ceil(distance(points[i], points[i + 1]) / kStep)));
    for (int piece = 1; piece <= pieces; ++piece) {
      stroke.push_back(catmull_rom(at(i > 0 ? i - 1 : 0), points[i], at(i + 1), at(i + 2),
                                   static_cast<float>(piece) / static_cast<float>(pieces)));
    }
  }
  add(std::move(stroke));
}

void Pen::arc(const Arc& arc) {
  const float length = std::abs(arc.sweep) * kTurn * std::max(arc.radius_x, arc.radius_y);
  const int pieces = std::max(6, static_cast<int>(std::ceil(length / kStep)));
  Stroke stroke;
  for (int i = 0; i <= pieces; ++i) {
    const float turns = arc.start + arc.sweep * static_cast<float>(i) / static_cast<float>(pieces);
    stroke.push_back(on_ellipse(arc.center, arc.radius_x, arc.radius_y, turns));
  }
  add(std::move(stroke));
}

void Pen::ellipse(Point center, float radius_x, float radius_y) {
  const float direction = chance(0.7f) ? 1.0f : -1.0f;
  arc({.center = center,
       .radius_x = radius_x,
       .radius_y = radius_y,
       .start = between(0, 1),
       .sweep = direction * between(0.96f, 1.05f)});
}

void Pen::dot(Point center, float radius) {
  if (chance(0.5f)) {
    line({center.x - radius / 2, center.y}, {center.x + radius / 2, center.y});
  } else {
    ellipse(center, radius, radius);
  }
}

void Pen::add(Stroke stroke) {
  // Two slow waves a stroke and axis; the phase follows the stroke's length, so that long strokes
  // waver more often.
  struct Wave {
    float frequency, phase, amplitude;
  };
  const auto wave = [this] {
    return Wave{between(5, 14), between(0, kTurn), tremor_ * between(0.4f, 1.2f)};
  };
  const Wave horizontal = wave(), vertical = wave();
  const float drift_x = between(-0.4f, 0.4f) * carelessness_;
  const float drift_y = between(-0.4f, 0.4f) * carelessness_;
  float length = 0;
  Point previous = stroke.front();
  for (Point& point : stroke) {
    const Point meant = point;
    length += distance(previous, meant);
    previous = meant;
    const auto offset = [length](const Wave& w) {
      return w.amplitude * std::sin(w.frequency * length + w.phase);
    };
    point.x += offset(horizontal) + drift_x * length;
    point.y += offset(vertical) + drift_y * length;
  }
  strokes_.push_back(std::move(stroke));
}

}  // namespace acgan
