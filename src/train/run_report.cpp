#include "train/run_report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/counted.h"
#include "base/error.h"
#include "report/figure.h"
#include "report/page.h"
#include "run/read_curves.h"
#include "train/best_evaluation.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPoints = 1000;  // of a curve: a figure has 860 pixels

// "" where there is no such file, or it is larger than anything of ours.
std::string read_if_there(const std::string& path) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{64} << 20;
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kLargest) return "";
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

Figure curve(const std::string& title, const std::string& unit) {
  return {.title = title,
          .x_label = "minutes of training",
          .y_label = unit,
          .series = {},
          .kind = FigureKind::Curve};
}

template <typename Point, typename Value>
void add_series(Figure& figure, const std::string& name, const std::vector<Point>& points,
                const Value& value) {
  FigureSeries series{
      .name = name, .points = {}, .color = static_cast<int>(figure.series.size()), .dash = 0};
  for (const Point& point : points) {
    const double y = value(point);
    series.points.push_back({.x = point.minutes, .y = y, .low = y, .high = y});
  }
  figure.series.push_back(std::move(series));
}

void add_figure(Page& page, const Figure& figure, const std::string& caption) {
  const bool has_points = std::ranges::any_of(figure.series, [&](const FigureSeries& series) {
    return std::ranges::any_of(series.points, [&](const FigurePoint& point) {
      return std::isfinite(point.y) && (figure.kind == FigureKind::Curve || point.y > 0);
    });
  });
  if (!has_points) return;
  page.figure(draw_svg(figure, Theme::Light), draw_svg(figure, Theme::Dark), caption);
}

void add_training_curves(Page& page, const std::vector<TimingPoint>& points) {
  constexpr const char* kNames[] = {"D (real or generated)", "G (generator)", "Q (classifier)"};
  Figure losses = curve("Losses", "loss");
  Figure scales = curve("Loss scales", "scale");
  scales.kind = FigureKind::LogarithmicCurve;
  for (std::size_t i = 0; i < 3; ++i) {
    add_series(losses, kNames[i], points, [i](const TimingPoint& p) { return p.loss[i]; });
    add_series(scales, kNames[i], points, [i](const TimingPoint& p) { return p.loss_scale[i]; });
  }
  Figure speed = curve("Speed", "images a second");
  add_series(speed, "images a second", points,
             [](const TimingPoint& p) { return p.images_per_second; });
  const std::string means =
      fmt::format("{} points, each the mean of consecutive steps of timing.csv.", points.size());
  add_figure(page, losses, "Losses; " + means);
  const bool has_scales = std::ranges::any_of(points, [](const TimingPoint& p) {
    return p.loss_scale != std::array<double, 3>{1, 1, 1};
  });
  if (has_scales) add_figure(page, scales, "Loss scale of each optimizer, logarithmic.");
  add_figure(page, speed, "Speed; " + means);
}

// The points of the feature net that most of them have: figures of several nets make no line.
std::vector<QualityPoint> of_one_net(const std::vector<QualityPoint>& points) {
  std::map<std::string, std::size_t> counts;
  for (const QualityPoint& point : points) ++counts[point.net];
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& net) { return net.second; });
  std::vector<QualityPoint> chosen;
  std::ranges::copy_if(points, std::back_inserter(chosen),
                       [&](const QualityPoint& point) { return point.net == most->first; });
  return chosen;
}

// One line for each of these figures that any point has.
void add_quality_series(Figure& figure, const std::vector<QualityPoint>& points,
                        const std::vector<std::pair<std::string, std::string>>& names) {
  for (const auto& [key, name] : names) {
    std::vector<QualityPoint> having;
    std::ranges::copy_if(points, std::back_inserter(having),
                         [&](const QualityPoint& point) { return point.figures.contains(key); });
    if (having.empty()) continue;
    add_series(figure, name, having, [&](const QualityPoint& p) { return p.figures.at(key); });
  }
}

// What best.safetensors says of itself; none where there is none.
std::optional<BestEvaluation> best_of(const RunDirectory& run) {
  std::error_code ignored;
  if (!fs::exists(run.best_file(), ignored)) return std::nullopt;
  try {
    return best_in(Checkpoint::load_texts(run.best_file()));
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A ring around the best evaluation on the line of `figure`; returns what the caption says of it.
std::string mark_best(Figure& plot, const std::vector<QualityPoint>& points,
                      const BestEvaluation& best, const std::string& figure) {
  const auto point = std::ranges::find(points, best.step, &QualityPoint::step);
  if (point == points.end() || !point->figures.contains(figure)) return "";
  const std::string name = fmt::format("best {}, step {}", best.by, best.step);
  add_series(plot, name, std::vector{*point},
             [&](const QualityPoint& p) { return p.figures.at(figure); });
  plot.series.back().is_mark = true;
  return fmt::format(" The ring: {}.", name);
}

void add_quality(Page& page, const std::vector<QualityPoint>& all,
                 const std::optional<BestEvaluation>& best) {
  if (all.empty()) return;
  page.heading("Quality");
  const std::vector<QualityPoint> points = of_one_net(all);
  if (points.size() < all.size()) {
    page.paragraph(fmt::format("Not shown: {} by another feature net than most.",
                               counted(all.size() - points.size(), "evaluation")));
  }
  if (best) {
    page.paragraph(fmt::format("Best {}: {:.6g} at step {}, kept as checkpoints/best.safetensors.",
                               best->by, best->value, best->step));
  }
  Figure distance = curve("Distance from real images", "Fréchet distance");
  add_quality_series(distance, points, {{"frechet", "generated images"}});
  const auto& floor = points.back().floor_figures;
  if (const auto of_real = floor.find("frechet"); of_real != floor.end()) {
    add_series(distance, "real images", points,
               [&](const QualityPoint&) { return of_real->second; });
  }
  // The kernel distance has no line of its own.
  const bool is_distance = best && (best->by == "frechet" || best->by == "kid");
  const std::string ring = is_distance ? mark_best(distance, points, *best, "frechet") : "";
  add_figure(page, distance,
             "Fréchet distance from held-out real images, the smaller the better." + ring);
  Figure shares = curve("Class accuracy, precision, recall, diversity", "share");
  add_quality_series(shares, points,
                     {{"class_accuracy", "class accuracy"},
                      {"precision", "precision"},
                      {"recall", "recall"},
                      {"diversity", "diversity"}});
  const std::string other = best && !is_distance ? mark_best(shares, points, *best, best->by) : "";
  add_figure(page, shares,
             "From metrics.jsonl, which says what each figure was measured on." + other);
}

void add_pictures(Page& page, const RunDirectory& run) {
  const std::vector<std::string> grids = run.fakes_files();
  const auto add = [&](const std::string& path, const std::string& caption) {
    if (const std::string content = read_if_there(path); !content.empty()) {
      page.picture(content, caption);
    }
  };
  page.heading("Images");
  if (grids.empty()) page.paragraph("No sample grid was written yet.");
  if (!grids.empty()) {
    add(grids.back(), fmt::format("{}, the newest grid: one class a column, one latent a row.",
                                  file_name(grids.back())));
  }
  add(run.reals_file(), "Real images: one class a column.");
  add(run.animation_file(), "The grids one after the other.");
}

void add_summary(Page& page, const RunDirectory& run) {
  page.heading("Summary");
  const auto summary =
      nlohmann::ordered_json::parse(read_if_there(run.summary_file()), nullptr, false);
  if (!summary.is_object()) {
    page.paragraph("There is no summary: the run has not ended, or was killed.");
    return;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : summary.items()) {
    const std::string text =
        value.is_string() ? value.get<std::string>()
                          : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    rows.push_back({name, text});
  }
  page.table({"figure", "value"}, rows, 1);
}

}  // namespace

std::string run_report(const RunDirectory& run) {
  const std::vector<TimingPoint> timing = read_timing(run.timing_file(), kMostPoints);
  Page page(file_name(run.path()));
  add_pictures(page, run);
  add_quality(page, read_quality(run.metrics_file()), best_of(run));
  page.heading("Training");
  if (timing.empty()) {
    page.paragraph("No step was logged yet.");
  } else {
    add_training_curves(page, timing);
  }
  add_summary(page, run);
  page.details("config.yaml", read_if_there(run.config_file()));
  return page.html();
}

void write_run_report(const RunDirectory& run) {
  check_can_draw();
  write_file_atomically(run.report_file(), run_report(run));
}

}  // namespace acgan
