#pragma once

#include <vector>

#include "backend/philox.h"

namespace acgan {

// A point of a drawing: x to the right, y down. A drawing's own unit is about its size; before it
// is rasterised it is fitted to the image.
struct Point {
  float x = 0, y = 0;
};

using Stroke = std::vector<Point>;  // a polyline

// An unsteady hand. Every stroke it draws wavers a little, starts and ends not quite where it was
// meant to and may bend; how much differs between drawings.
class Pen {
 public:
  explicit Pen(PhiloxSequence& random);

  float between(float low, float high) { return low + (high - low) * random_.next_unit(); }
  int count_between(int low, int high);  // both included
  bool chance(float probability) { return random_.next_unit() < probability; }

  void line(Point from, Point to);
  // Straight pieces from point to point in one stroke.
  void polyline(const std::vector<Point>& points);
  // As polyline, back to the first point; sometimes as one stroke a side.
  void polygon(const std::vector<Point>& points);
  // A smooth stroke through the points.
  void curve(const std::vector<Point>& points);
  // A part of an ellipse; angles in turns, 0 to the right, growing clockwise on the screen.
  struct Arc {
    Point center;
    float radius_x = 0, radius_y = 0;
    float start = 0, sweep = 1;
  };
  void arc(const Arc& arc);
  // A closed ellipse from a random starting point, with a small gap or overlap where it closes.
  void ellipse(Point center, float radius_x, float radius_y);
  void dot(Point center, float radius);

  const std::vector<Stroke>& strokes() const { return strokes_; }

 private:
  // Adds `stroke` with the hand's tremor; `stroke` should have points closer than the tremor's
  // waves.
  void add(Stroke stroke);

  PhiloxSequence& random_;
  float tremor_;        // amplitude of the waver
  float carelessness_;  // how far ends miss their mark
  std::vector<Stroke> strokes_;
};

// Point on an ellipse; the angle in turns as in Pen::Arc.
Point on_ellipse(Point center, float radius_x, float radius_y, float turns);

}  // namespace acgan
