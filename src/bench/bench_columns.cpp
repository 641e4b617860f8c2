#include "bench/bench_columns.h"

namespace acgan {
namespace {

using BenchColumn = FileColumn<BenchRow>;

// A figure that only a measured row has.
BenchColumn measured(const char* name, double BenchRow::*member) {
  return {name,
          [member](const BenchRow& row) { return row.is_measured() ? Cell(row.*member) : Cell(); },
          [member](BenchRow& row, const Cell& cell) {
            const auto value = number_in(cell);
            if (value) row.*member = *value;
            return value || (is_empty(cell) && !row.is_measured());
          }};
}

BenchColumn speedup() {
  return {"speedup_vs_fp32", [](const BenchRow& row) { return known(row.speedup_vs_fp32); },
          [](BenchRow& row, const Cell& cell) {
            row.speedup_vs_fp32 = number_in(cell);
            return row.speedup_vs_fp32 || is_empty(cell);
          }};
}

BenchColumn cost_of_minutes() {
  return {"cost_of_minutes",
          [](const BenchRow& row) { return row.timed ? known(row.timed->cost) : Cell(); },
          [](BenchRow& row, const Cell& cell) {
            if (is_empty(cell)) return true;
            if (!row.timed || !number_in(cell)) return false;
            row.timed->cost = number_in(cell);
            return true;
          }};
}

}  // namespace

const std::vector<FileColumn<BenchRow>>& bench_columns() {
  using Row = BenchRow;
  static const std::vector<BenchColumn> kColumns{
      file_column("device", &Row::device),
      file_column("precision", &Row::precision),
      file_column("half", &Row::half),
      file_column("tf32", &Row::tf32),
      file_column("conv", &Row::conv),
      file_column("batch", &Row::batch),
      file_column("warmup", &Row::warmup),
      file_column("iterations", &Row::iterations),
      measured("median_ms", &Row::median_ms),
      measured("p10_ms", &Row::p10_ms),
      measured("p90_ms", &Row::p90_ms),
      measured("images_per_s", &Row::images_per_second),
      measured("peak_mib", &Row::peak_mib),
      file_column("skipped", &Row::skipped),
      measured("seconds_per_1000", &Row::seconds_per_1000),
      part_column("price_per_hour", &Row::cost, &BenchCost::price_per_hour),
      part_column("cost_per_million_batches", &Row::cost, &BenchCost::per_million_batches),
      speedup(),
      // Beyond what other programs were promised; new columns go to the end.
      measured("gflops", &Row::gflops),
      measured("median_low_ms", &Row::median_low_ms),
      measured("median_high_ms", &Row::median_high_ms),
      part_column("cost_per_1000_images", &Row::cost, &BenchCost::per_1000_images),
      part_column("cost_per_million_images", &Row::cost, &BenchCost::per_million_images),
      part_column("minutes", &Row::timed, &TimedTraining::minutes),
      part_column("batches_in_minutes", &Row::timed, &TimedTraining::batches),
      part_column("images_in_minutes", &Row::timed, &TimedTraining::images),
      cost_of_minutes(),
      file_column("ended_by", &Row::ended_by),
      file_column("note", &Row::note),
      measured("mean_ms", &Row::mean_ms),
  };
  return kColumns;
}

const std::vector<FileColumn<AfterRow>>& after_columns() {
  using Row = AfterRow;
  static const std::vector<FileColumn<Row>> kColumns{
      file_column("precision", &Row::precision),
      file_column("half", &Row::half),
      figure_column("minutes", &Row::minutes),
      figure_column("seconds", &Row::seconds),
      file_column("step", &Row::step),
      file_column("images", &Row::images),
      figure_column("d_loss", &Row::d_loss),
      figure_column("g_loss", &Row::g_loss),
      figure_column("q_loss", &Row::q_loss),
      figure_column("accuracy_real", &Row::accuracy_real),
      figure_column("accuracy_fake", &Row::accuracy_fake),
      file_column("skipped", &Row::skipped),
      part_column("quality_accuracy", &Row::quality, &AfterQuality::accuracy),
      part_column("quality_frechet", &Row::quality, &AfterQuality::frechet),
      part_column("quality_kernel", &Row::quality, &AfterQuality::kernel),
      part_column("quality_precision", &Row::quality, &AfterQuality::precision),
      part_column("quality_recall", &Row::quality, &AfterQuality::recall),
      part_column("quality_diversity", &Row::quality, &AfterQuality::diversity),
      file_column("grid", &Row::grid),
      file_column("note", &Row::note),
  };
  return kColumns;
}

}  // namespace acgan
