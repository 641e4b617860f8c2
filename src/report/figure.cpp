#include "report/figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <set>
#include <string_view>

#include "base/child_process.h"
#include "base/error.h"

namespace acgan {
namespace {

// Distinct for colour-blind eyes too (Okabe and Ito 2008), in shades for both backgrounds.
struct Colors {
  const char* background;
  const char* text;
  const char* grid;
  std::array<const char*, 8> lines;
};
constexpr Colors kLight{.background = "#ffffff",
                        .text = "#222222",
                        .grid = "#dddddd",
                        .lines = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
                                  "#7a6a00", "#555555"}};
constexpr Colors kDark{.background = "#16191d",
                       .text = "#e4e4e4",
                       .grid = "#3a3f46",
                       .lines = {"#56b4e9", "#ff8c3a", "#2fd3a4", "#e79fc6", "#f0c04a", "#8fd0ff",
                                 "#d8cf5a", "#aaaaaa"}};

constexpr int kRing = 6;  // gnuplot's number for an open circle

// From this ratio of largest to smallest on, a linear axis hides the small ones.
constexpr double kLogarithmicFrom = 8;

const Colors& colors_of(Theme theme) { return theme == Theme::Light ? kLight : kDark; }

// In single quotes gnuplot takes everything as it stands, but for quotes and ends of line.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (c == '\'') {
      result += "\u2019";
    } else {
      result += is_control ? ' ' : c;
    }
  }
  return result + "'";
}

std::string gnuplot(const std::string& script, const std::vector<const UnnamedFile*>& files = {}) {
  return run_filter({"gnuplot", "--default-settings", "-"}, script,
                    "it draws the figures (on Debian: apt-get install gnuplot-nox)", files);
}

// A file size limit, or a lack of memory, cuts off what gnuplot writes, and it does not notice.
std::string whole(std::string picture, std::string_view end) {
  if (picture.ends_with(end)) return picture;
  fail(
      ErrorKind::Output,
      "gnuplot's picture was cut off after {} bytes: raise the limit on file sizes (ulimit -f), or "
      "free memory",
      picture.size());
}

constexpr std::string_view kPngEnd("IEND\xae\x42\x60\x82", 8);

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_logarithmic() const { return low > 0 && high / low >= kLogarithmicFrom; }
};

// 1, 2 and 5 in each decade, as gnuplot takes places on an axis.
std::string round_values(double low, double high) {
  std::string text;
  for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10) {
    for (const int digit : {1, 2, 5}) {
      const double place = digit * decade;
      if (place < low || place > high) continue;
      text += fmt::format("{0}'{1:.6g}' {1}", text.empty() ? "" : ",", place);
    }
  }
  return text;
}

// gnuplot chooses the ranges; values about zero keep it in sight.
std::string curve_axes(const Figure& figure) {
  if (figure.kind == FigureKind::LogarithmicCurve) return "set logscale y 2\n";
  bool is_positive = true;
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) is_positive &= !(point.y < 0);
  }
  return is_positive ? "set yrange [0:*]\n" : "";
}

std::string bar_axes(const Figure& figure) {
  Range x, y;
  std::set<double> places;
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) {
      x.add(point.x);
      y.add(point.low);
      y.add(point.high);
      places.insert(point.x);
    }
  }
  std::string text = "set logscale x 2\n";  // batch sizes double
  text += fmt::format("set xrange [{}:{}]\n", x.low / 1.3, x.high * 1.3);
  std::string tics;
  for (const double place : places) {
    tics += fmt::format("{}'{:g}' {}", tics.empty() ? "" : ",", place, place);
  }
  text += fmt::format("set xtics ({})\n", tics);
  if (y.is_logarithmic()) {
    text += fmt::format("set logscale y 10\nset yrange [{}:{}]\nset ytics ({})\n", y.low / 1.3,
                        y.high * 1.3, round_values(y.low / 1.3, y.high * 1.3));
  } else {
    text += fmt::format("set yrange [0:{}]\n", 1.15 * y.high);
  }
  return text;
}

std::string axes(const Figure& figure) {
  return figure.kind == FigureKind::Bars ? bar_axes(figure) : curve_axes(figure);
}

std::string look(const Figure& figure, const Colors& colors) {
  std::string text;
  text += fmt::format("set title {} textcolor rgb '{}'\n", quoted(figure.title), colors.text);
  text += fmt::format("set xlabel {} textcolor rgb '{}'\n", quoted(figure.x_label), colors.text);
  text += fmt::format("set ylabel {} textcolor rgb '{}'\n", quoted(figure.y_label), colors.text);
  text += fmt::format("set border 3 linecolor rgb '{}'\n", colors.text);
  text += fmt::format("set tics nomirror textcolor rgb '{}'\n", colors.text);
  text += fmt::format("set grid linecolor rgb '{}' linetype 1\n", colors.grid);
  text += fmt::format("set key outside bottom center horizontal textcolor rgb '{}'\n", colors.text);
  text += "set bars 0.7\nset format y '%g'\n";
  return text;
}

bool is_gap(const FigurePoint& point, FigureKind kind) {
  return !std::isfinite(point.x) || !std::isfinite(point.y) ||
         (kind == FigureKind::LogarithmicCurve && point.y <= 0);
}

std::string plots(const Figure& figure, const Colors& colors) {
  const bool is_curve = figure.kind != FigureKind::Bars;
  std::string data, plot;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const FigureSeries& series = figure.series[i];
    data += fmt::format("$series{} << end_of_series\n", i);
    for (const FigurePoint& point : series.points) {
      if (is_curve && is_gap(point, figure.kind)) {
        data += '\n';
      } else {
        data += fmt::format("{} {} {} {}\n", point.x, point.y, point.low, point.high);
      }
    }
    data += "end_of_series\n";
    const char* const color = colors.lines[static_cast<std::size_t>(series.color) % 8];
    // A curve of one point must be seen as well.
    const std::string style = !is_curve                   ? "using 1:2:3:4 with yerrorlines"
                              : series.is_mark            ? "using 1:2 with points"
                              : series.points.size() > 40 ? "using 1:2 with lines"
                                                          : "using 1:2 with linespoints";
    plot += fmt::format(
        "{}$series{} {} linecolor rgb '{}' linewidth {} dashtype {} pointtype {} pointsize {} "
        "title {}",
        plot.empty() ? "plot " : ", ", i, style, color, is_curve ? 1.5 : 2.0, 1 + series.dash % 5,
        series.is_mark ? kRing : 7 + 2 * (series.dash % 4), series.is_mark ? 2.0 : 0.8,
        quoted(series.name));
  }
  return data + plot + "\n";
}

std::string draw(const Figure& figure, const std::string& terminal, const Colors& colors) {
  return gnuplot("set encoding utf8\n" + terminal + axes(figure) + look(figure, colors) +
                 plots(figure, colors));
}

// A panel: the picture in its own pixels, names below its columns.
std::string panel_plot(const PictureStrip& strip, std::size_t index, double width) {
  const PictureStrip::Panel& panel = strip.panels[index];
  std::string tics;
  const auto columns = static_cast<double>(strip.column_names.size());
  for (std::size_t i = 0; i < strip.column_names.size(); ++i) {
    const double place = (static_cast<double>(i) + 0.5) / columns * panel.width;
    tics += fmt::format("{}{} {}", tics.empty() ? "" : ",", quoted(strip.column_names[i]), place);
  }
  std::string text =
      fmt::format("set origin {},0\nset size {},0.93\n", static_cast<double>(index) * width, width);
  text += fmt::format("set title {} offset 0,-0.3\n", quoted(panel.title));
  text += fmt::format("set xlabel {}\n", quoted(panel.subtitle));
  text += fmt::format("set xrange [0:{}]\nset yrange [0:{}]\n", panel.width, panel.height);
  text += fmt::format("set xtics ({}) rotate by 45 right scale 0\n", tics);
  text += fmt::format(
      "plot '/dev/fd/{}' binary filetype=png origin=(0.5,0.5) dx=1 dy=1 using 1:2:3 with rgbimage "
      "notitle\n",
      3 + index);
  return text;
}

}  // namespace

std::string draw_svg(const Figure& figure, Theme theme) {
  const Colors& colors = colors_of(theme);
  return whole(draw(figure,
                    fmt::format("set terminal svg size 860,500 dynamic noenhanced font "
                                "'sans-serif,14' background rgb '{}'\n",
                                colors.background),
                    colors),
               "</svg>\n\n");
}

std::string draw_png(const Figure& figure) {
  return whole(
      draw(figure, "set terminal pngcairo size 1290,750 noenhanced font 'sans-serif,18'\n", kLight),
      kPngEnd);
}

std::string draw_png(const PictureStrip& strip) {
  constexpr double kScale = 2, kMargins = 150;
  const double share = 1.0 / static_cast<double>(std::max<std::size_t>(strip.panels.size(), 1));
  double width = 0, height = 0;
  for (const PictureStrip::Panel& panel : strip.panels) {
    width = std::max(width, kScale * panel.width + 60);
    height = std::max(height, kScale * panel.height + kMargins + 40);
  }
  std::string script = fmt::format(
      "set encoding utf8\nset terminal pngcairo size {:.0f},{:.0f} noenhanced font "
      "'sans-serif,13'\nset multiplot title {} font ',15'\nset size ratio -1\nunset border\nunset "
      "ytics\nset lmargin 1\nset rmargin 1\n",
      width / share, height, quoted(strip.title));
  std::deque<UnnamedFile> pictures;
  std::vector<const UnnamedFile*> files;
  for (std::size_t i = 0; i < strip.panels.size(); ++i) {
    script += panel_plot(strip, i, share);
    pictures.push_back(UnnamedFile::in_memory(strip.panels[i].png));
    files.push_back(&pictures.back());
  }
  return whole(gnuplot(script + "unset multiplot\n", files), kPngEnd);
}

void check_can_draw() { gnuplot("print 1\n"); }

}  // namespace acgan
