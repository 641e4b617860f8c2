#include "bench/report.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/atomic_file.h"
#include "base/format.h"
#include "bench/bench_files.h"
#include "bench/bench_table.h"
#include "bench/output_folder.h"
#include "report/figure.h"
#include "report/page.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReportName = "report.html";

// What a figure shows of a row: a value for each millisecond of a step.
struct Quantity {
  const char* file;
  const char* title;
  const char* unit;
  // None where the row has no such value.
  std::function<std::optional<double>(const BenchRow&)> per_ms;
};

std::optional<double> dollars_per_ms(const BenchRow& row) {
  if (!row.cost) return std::nullopt;
  return row.cost->per_million_batches / row.median_ms;
}

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> kQuantities{
      {"figure_1_batch_time", "Figure 1: time of a training step", "ms a batch",
       [](const BenchRow&) { return std::optional(1.0); }},
      {"figure_2_time_per_1000_images", "Figure 2: time per 1000 images", "seconds per 1000 images",
       [](const BenchRow& row) { return std::optional(1.0 / static_cast<double>(row.batch)); }},
      {"figure_3_cost_per_million_batches", "Figure 3: cost per million batches", "USD",
       dollars_per_ms},
  };
  return kQuantities;
}

constexpr const char* kBars = "medians, the bars reach from p10 to p90";

using Documents = std::vector<const BenchDocument*>;

std::vector<BenchRow> rows_of(const Documents& sweeps) {
  std::vector<BenchRow> rows;
  for (const BenchDocument* sweep : sweeps) {
    rows.insert(rows.end(), sweep->result.rows.begin(), sweep->result.rows.end());
  }
  return rows;
}

std::string lane_name(const BenchRow& row) {
  return row.label() + (row.tf32 ? " (TF32)" : "") + (row.conv == "cudnn" ? " (cuDNN)" : "");
}

// A line for each machine's precision; colours tell machines apart where there are several.
Figure figure_of(const Documents& sweeps, const Quantity& quantity) {
  Figure figure{
      .title = quantity.title, .x_label = "batch size", .y_label = quantity.unit, .series = {}};
  std::vector<std::string> lanes;
  for (std::size_t d = 0; d < sweeps.size(); ++d) {
    const std::size_t first = figure.series.size();
    for (const BenchRow& row : sweeps[d]->result.rows) {
      const std::optional<double> per_ms = quantity.per_ms(row);
      if (!row.is_measured() || !per_ms) continue;
      const std::string lane = lane_name(row);
      const std::string name = sweeps.size() == 1 ? lane : row.device + ", " + lane;
      auto series =
          std::find_if(figure.series.begin() + static_cast<std::ptrdiff_t>(first),
                       figure.series.end(), [&](const auto& s) { return s.name == name; });
      if (series == figure.series.end()) {
        auto place = std::ranges::find(lanes, lane);
        if (place == lanes.end()) place = lanes.insert(lanes.end(), lane);
        const auto dash = static_cast<int>(place - lanes.begin());
        figure.series.push_back({.name = name,
                                 .points = {},
                                 .color = sweeps.size() == 1 ? dash : static_cast<int>(d),
                                 .dash = dash});
        series = figure.series.end() - 1;
      }
      series->points.push_back({.x = static_cast<double>(row.batch),
                                .y = *per_ms * row.median_ms,
                                .low = *per_ms * row.p10_ms,
                                .high = *per_ms * row.p90_ms});
    }
  }
  for (FigureSeries& series : figure.series) {
    std::ranges::sort(series.points, {}, &FigurePoint::x);
  }
  return figure;
}

std::string number(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

std::vector<std::string> cells_of(const BenchRow& row, bool has_costs) {
  std::vector<std::string> cells{row.device, fmt::format("{}", row.batch), lane_name(row)};
  if (row.is_measured()) {
    const int digits = row.median_ms < 10 ? 3 : 1;
    cells.insert(cells.end(), {number(row.median_ms, digits), number(row.p10_ms, digits),
                               number(row.p90_ms, digits), number(row.images_per_second, 1),
                               number(row.seconds_per_1000, 3), number(row.gflops, 1),
                               number(row.peak_mib, 0), fmt::format("{}", row.skipped),
                               row.speedup_vs_fp32 ? number(*row.speedup_vs_fp32, 2) + "x" : ""});
  } else {
    cells.insert(cells.end(), 9, "");
  }
  if (has_costs) {
    cells.push_back(row.cost ? fmt::format("{:.3g}", row.cost->per_million_batches) : "");
    cells.push_back(row.cost ? fmt::format("{:.3g}", row.cost->per_million_images) : "");
  }
  cells.push_back(row.ended_by);
  return cells;
}

void add_table(Page& page, const std::vector<BenchRow>& rows) {
  const bool has_costs =
      std::ranges::any_of(rows, [](const BenchRow& row) { return row.cost.has_value(); });
  std::vector<std::string> heading{"device",  "batch", "precision", "median ms",
                                   "p10",     "p90",   "images/s",  "s/1000 images",
                                   "GFLOP/s", "MiB",   "skipped",   "against fp32"};
  if (has_costs) heading.insert(heading.end(), {"USD/million batches", "USD/million images"});
  heading.emplace_back("ended by");
  std::vector<std::vector<std::string>> cells;
  for (const BenchRow& row : rows) cells.push_back(cells_of(row, has_costs));
  page.table(heading, cells, 3);
}

// What the figures say in one sentence a machine, loss or gain.
std::vector<std::string> findings(const Documents& sweeps) {
  std::vector<std::string> lines;
  for (const BenchDocument* sweep : sweeps) {
    const BenchRow* best = nullptr;
    for (const BenchRow& row : sweep->result.rows) {
      if (row.half.empty() || !row.speedup_vs_fp32) continue;
      if (best == nullptr || *row.speedup_vs_fp32 > *best->speedup_vs_fp32) best = &row;
    }
    if (best == nullptr) {
      lines.push_back(sweep->context.machine.device + ": nothing to compare with fp32");
      continue;
    }
    std::string line = fmt::format(
        "{}: mixed precision does best against fp32 at batch {} in {}: {:.2f}x the "
        "speed of fp32",
        best->device, best->batch, best->half, *best->speedup_vs_fp32);
    if (best->cost) {
      line += fmt::format(", {:.3g} USD per million batches in place of {:.3g}",
                          best->cost->per_million_batches,
                          best->cost->per_million_batches * *best->speedup_vs_fp32);
    }
    if (!best->note.empty()) line += fmt::format(" ({})", best->note);
    lines.push_back(line);
  }
  return lines;
}

void add_machine(Page& page, const BenchDocument& document) {
  const BenchContext& context = document.context;
  const Machine& machine = context.machine;
  page.heading("Measured on " + machine.device);
  page.list({machine.description,
             fmt::format("{}, {} processors, {:.0f} MiB of memory; {}", machine.processor,
                         machine.processors, machine.memory_mib, machine.system),
             "data: " + context.data, "price: " + (context.price.empty() ? "none" : context.price),
             fmt::format("{}, begun {}, ended: {}", context.program, context.began,
                         document.result.ended),
             fmt::format("each row until the 95 % interval of its median was within +-{:g} % or "
                         "{:g} s were over; the precisions in short blocks in turn",
                         100 * context.limits.spread, context.limits.max_seconds)});
  page.code(context.command);
  page.details("the config, " + context.config_name, context.config);
}

using NamedFiles = std::vector<std::pair<std::string, std::string>>;

// Figures 1 to 3 and the table.
void add_sweeps(Page& page, const Documents& sweeps, NamedFiles& files) {
  page.list(findings(sweeps));
  for (const Quantity& quantity : quantities()) {
    const Figure figure = figure_of(sweeps, quantity);
    if (figure.series.empty()) {
      page.paragraph(fmt::format("{}: no row has the figures for it.", quantity.title));
      continue;
    }
    const std::string light = draw_svg(figure, Theme::Light);
    page.figure(light, draw_svg(figure, Theme::Dark),
                fmt::format("{}, in {}; {}.", quantity.title, quantity.unit, kBars));
    files.emplace_back(std::string(quantity.file) + ".svg", light);
    files.emplace_back(std::string(quantity.file) + ".png", draw_png(figure));
  }
  page.heading("All figures");
  add_table(page, rows_of(sweeps));
  for (const BenchDocument* sweep : sweeps) {
    std::vector<std::string> notes = bench_notes(sweep->result.rows);
    if (sweeps.size() > 1) {
      for (std::string& note : notes) note = sweep->context.machine.device + ", " + note;
    }
    page.list(notes);
  }
  files.emplace_back(kBenchCsvName, bench_csv(rows_of(sweeps)));
}

// Figure 4.
void add_after(Page& page, const BenchDocument& document, NamedFiles& files) {
  const AfterResult& after = document.after;
  if (after.rows.empty()) return;
  page.heading("After the same time of training on " + document.context.machine.device);
  const auto cells = after_cells(after);
  page.table(cells.front(), {cells.begin() + 1, cells.end()}, 2);
  page.paragraph(after.quality_note);
  for (const auto& [name, png] : after.figures) {
    page.picture(png, "Figure 4: one class a column, one latent a row, the same in every grid.");
    const bool is_new = std::ranges::none_of(files, [&](const auto& f) { return f.first == name; });
    if (is_new) files.emplace_back(name, png);
  }
}

NamedFiles draw_report(const std::vector<BenchDocument>& documents) {
  NamedFiles files;
  Page page("fp32 against mixed precision");
  Documents sweeps;
  for (const BenchDocument& document : documents) {
    if (!document.result.rows.empty()) sweeps.push_back(&document);
  }
  if (!sweeps.empty()) add_sweeps(page, sweeps, files);
  for (const BenchDocument& document : documents) add_after(page, document, files);
  for (const BenchDocument& document : documents) add_machine(page, document);
  files.emplace_back(kReportName, page.html());
  return files;
}

}  // namespace

void check_report_folder(const std::string& folder) {
  std::vector<std::string> names{kBenchCsvName, kReportName};
  for (const Quantity& quantity : quantities()) {
    for (const char* type : {".svg", ".png"}) names.push_back(std::string(quantity.file) + type);
  }
  check_output_folder(folder, names, "--report");
  check_can_draw();
}

std::vector<std::string> write_report(const std::string& folder,
                                      const std::vector<BenchDocument>& documents) {
  const NamedFiles files = draw_report(documents);
  make_output_folder(folder, "--report");
  std::vector<std::string> names;
  for (const auto& [name, content] : files) {
    write_file_atomically((fs::path(folder) / name).string(), std::string_view(content));
    names.push_back(name);
  }
  return names;
}

}  // namespace acgan
