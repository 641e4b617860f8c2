#pragma once

#include <string>
#include <vector>

namespace acgan {

// A point with the range that it was seen in.
struct FigurePoint {
  double x = 0, y = 0;
  double low = 0, high = 0;
};

// Points joined by a line; `color` and `dash` count from 0 and say which lines belong together.
struct FigureSeries {
  std::string name;
  std::vector<FigurePoint> points;
  int color = 0, dash = 0;
  bool is_mark = false;  // in a curve: points that stand out, without a line
};

// Bars: points with their ranges over batch sizes, which double; the y axis is logarithmic where
// the values ask for it. Curve, LogarithmicCurve: lines alone over an even x axis; of the latter
// values that are not above zero are left out.
enum class FigureKind { Bars, Curve, LogarithmicCurve };

// A plot of lines. Points that are not finite are gaps in curves.
struct Figure {
  std::string title, x_label, y_label;
  std::vector<FigureSeries> series;
  FigureKind kind = FigureKind::Bars;
};

// Pictures beside each other, each with names below its columns: figure 4 of the study.
struct PictureStrip {
  struct Panel {
    std::string title, subtitle;
    std::string png;  // the picture, encoded
    int height = 0, width = 0;
  };
  std::string title;
  std::vector<Panel> panels;
  std::vector<std::string> column_names;  // the same for every panel, evenly spaced
};

enum class Theme { Light, Dark };

// gnuplot draws; no text of a figure is ever taken for a command. Throw Error{Output} where gnuplot
// is missing or refuses.
std::string draw_svg(const Figure& figure, Theme theme);
std::string draw_png(const Figure& figure);
std::string draw_png(const PictureStrip& strip);
// Throws Error{Output}, with what to install, where nothing could be drawn.
void check_can_draw();

}  // namespace acgan
