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

// A note that several rows share stands once.
std::string notes_of(const std::vector<BenchRow>& rows) {
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
  std::string text;
  for (const auto& [note, names] : notes) text += fmt::format("{}: {}\n", names, note);
  return text;
}

}  // namespace

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
  return text + notes_of(rows);
}

}  // namespace acgan
