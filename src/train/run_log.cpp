#include "train/run_log.h"

#include <sys/resource.h>

#include <utility>

namespace acgan {
namespace {

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;  // Linux: KiB
}

}  // namespace

RunLog::RunLog(RunDirectory directory, std::int64_t last_step)
    : directory_(std::move(directory)),
      lock_(directory_.path()),
      timing_(directory_.timing_file(), last_step),
      stats_(directory_.stats_file(), last_step) {}

void RunLog::add(const StepRecord& record) {
  interval_.push_back(record);
  times_.add(record.batch_ms);
  last_ = record;
  timing_.add(record);
}

void RunLog::flush_interval() {
  const std::vector<StepRecord> done = std::exchange(interval_, {});
  if (!done.empty()) stats_.add(done);
}

RunSummary RunLog::summarize(const StepRecord& start) const {
  const StepRecord& last = times_.values().empty() ? start : last_;
  RunSummary summary;
  summary.steps = last.step;
  summary.images = last.images;
  summary.seconds = last.elapsed_seconds;
  summary.median_batch_ms = quantile(times_.values(), 0.5);
  summary.p10_batch_ms = quantile(times_.values(), 0.1);
  summary.p90_batch_ms = quantile(times_.values(), 0.9);
  if (last.elapsed_seconds > 0) {
    summary.images_per_second = static_cast<double>(last.images) / last.elapsed_seconds;
  }
  summary.skipped = last.skipped;
  summary.peak_memory_mib = peak_memory_mib();
  return summary;
}

}  // namespace acgan
