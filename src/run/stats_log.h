#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "run/line_log.h"
#include "run/step_record.h"

namespace acgan {

// stats.jsonl: one strict JSON object an interval (means over the interval's steps), flushed; what
// is not finite is null and named in "nonfinite". Appends; lines after `last_step` are cut off
// first. Throws Error{Output}.
class StatsLog {
 public:
  StatsLog(const std::string& path, std::int64_t last_step);
  void add(const std::vector<StepRecord>& interval);  // writes nothing for no steps

 private:
  LineLog log_;
};

// summary.json at the end of a run.
struct RunSummary {
  std::int64_t steps = 0, images = 0;
  double seconds = 0;  // training time
  double sampling_seconds = 0, saving_seconds = 0, evaluating_seconds = 0, startup_seconds = 0;
  double median_batch_ms = 0, p10_batch_ms = 0, p90_batch_ms = 0;
  double images_per_second = 0;
  std::array<std::int64_t, 3> skipped{};  // D, G, Q
  double peak_memory_mib = 0;
  std::string device, precision, half, ended;  // ended: "steps", "minutes", "SIGINT", ...
  std::uint64_t seed = 0;
  // What best.safetensors is the best by, its figure and step; written where there is one.
  std::string best_by;
  double best_value = 0;
  std::int64_t best_step = 0;
};
void write_summary(const std::string& path, const RunSummary& summary);

// The q-quantile (0..1) of values, by linear interpolation; 0 for none.
double quantile(std::vector<double> values, double q);

}  // namespace acgan
