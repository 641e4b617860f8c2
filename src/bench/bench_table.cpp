#include "bench/bench_table.h"

#include <algorithm>

#include "base/format.h"
#include "bench/text_table.h"

namespace acgan {
namespace {

std::string number(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

// Three or more digits that count, and never less than two behind the point.
std::string milliseconds(double value) { return number(value, value < 10 ? 3 : 2); }

std::string money(double value) { return fmt::format("{:.3g}", value); }

bool any_cost(const std::vector<BenchRow>& rows) {
  return std::ranges::any_of(rows, [](const BenchRow& row) { return row.cost.has_value(); });
}

std::string result_table(const std::vector<BenchRow>& rows) {
  std::vector<std::string> heading{"batch",   "precision",       "median ms", "p10",     "p90",
                                   "steps",   "images/s",        "s/1000",    "GFLOP/s", "MiB",
                                   "skipped", "speedup_vs_fp32", "ended by"};
  TextTable table(heading, 2);
  for (const BenchRow& row : rows) {
    if (!row.is_measured()) {
      std::vector<std::string> cells{fmt::format("{}", row.batch), row.label()};
      cells.resize(heading.size() - 1, "-");
      cells.push_back(row.ended_by);
      table.add(std::move(cells));
      continue;
    }
    table.add(
        {fmt::format("{}", row.batch), row.label(), milliseconds(row.median_ms),
         milliseconds(row.p10_ms), milliseconds(row.p90_ms), fmt::format("{}", row.iterations),
         number(row.images_per_second, 1), number(row.seconds_per_1000, 3), number(row.gflops, 1),
         number(row.peak_mib, 1), fmt::format("{}", row.skipped),
         row.speedup_vs_fp32 ? fmt::format("{:.2f}x", *row.speedup_vs_fp32) : "-", row.ended_by});
  }
  return table.text();
}

std::string cost_table(const std::vector<BenchRow>& rows) {
  TextTable table({"batch", "precision", "USD/h", "USD/1000 images", "USD/million images",
                   "USD/million batches"},
                  2);
  for (const BenchRow& row : rows) {
    if (!row.cost) continue;
    table.add({fmt::format("{}", row.batch), row.label(), money(row.cost->price_per_hour),
               money(row.cost->per_1000_images), money(row.cost->per_million_images),
               money(row.cost->per_million_batches)});
  }
  return table.text();
}

std::string timed_table(const std::vector<BenchRow>& rows) {
  TextTable table({"batch", "precision", "minutes", "batches", "images", "USD"}, 2);
  for (const BenchRow& row : rows) {
    if (!row.timed) continue;
    table.add({fmt::format("{}", row.batch), row.label(), fmt::format("{:g}", row.timed->minutes),
               number(row.timed->batches, 0), number(row.timed->images, 0),
               row.timed->cost ? money(*row.timed->cost) : "-"});
  }
  return table.text();
}

}  // namespace

std::vector<std::string> bench_notes(const std::vector<BenchRow>& rows) {
  std::vector<std::pair<std::string, std::string>> notes;  // text, rows
  for (const BenchRow& row : rows) {
    if (row.note.empty()) continue;
    const std::string name = fmt::format("{} {}", row.batch, row.label());
    const auto same =
        std::ranges::find_if(notes, [&](const auto& note) { return note.first == row.note; });
    if (same == notes.end()) {
      notes.emplace_back(row.note, name);
    } else {
      same->second += ", " + name;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [note, names] : notes) lines.push_back(fmt::format("{}: {}", names, note));
  return lines;
}

std::string bench_table(const std::vector<BenchRow>& rows, const SweepLimits& limits) {
  std::string text = result_table(rows);
  if (any_cost(rows)) text += fmt::format("\n{}", cost_table(rows));
  if (std::ranges::any_of(rows, [](const BenchRow& row) { return row.timed.has_value(); })) {
    text += fmt::format("\n{}", timed_table(rows));
  }
  text += fmt::format(
      "\nended by spread: the median is known to +-{:g}% (95% interval); by time: after {:g} s it "
      "was not; MiB: networks, passes, optimizers and data set\n",
      100 * limits.spread, limits.max_seconds);
  for (const std::string& note : bench_notes(rows)) text += note + '\n';
  return text;
}

std::vector<std::vector<std::string>> after_cells(const AfterResult& after) {
  std::vector<std::vector<std::string>> cells{{"minutes", "precision", "seconds", "steps", "images",
                                               "d loss", "g loss", "q loss", "skipped",
                                               "fakes classified right", "Frechet", "kernel x1000",
                                               "precision", "recall", "diversity"}};
  for (const AfterRow& row : after.rows) {
    cells.push_back({fmt::format("{:.4g}", row.minutes), row.label(), number(row.seconds, 1),
                     fmt::format("{}", row.step), fmt::format("{}", row.images),
                     number(row.d_loss, 3), number(row.g_loss, 3), number(row.q_loss, 3),
                     fmt::format("{}", row.skipped)});
    if (!row.quality) {
      cells.back().resize(cells.front().size());
      continue;
    }
    const AfterQuality& quality = *row.quality;
    cells.back().insert(cells.back().end(),
                        {number(100 * quality.accuracy, 1) + "%", number(quality.frechet, 2),
                         number(1e3 * quality.kernel, 2), number(quality.precision, 3),
                         number(quality.recall, 3), number(quality.diversity, 3)});
  }
  return cells;
}

std::string after_table(const AfterResult& after) {
  const auto cells = after_cells(after);
  TextTable table(cells.front(), 2);
  for (std::size_t i = 1; i < cells.size(); ++i) table.add(cells[i]);
  std::string text = table.text();
  for (const AfterRow& row : after.rows) {
    if (!row.note.empty()) text += fmt::format("{:g} {}: {}\n", row.minutes, row.label(), row.note);
  }
  return text + after.quality_note + "\n";
}

}  // namespace acgan
