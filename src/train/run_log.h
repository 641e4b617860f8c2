#pragma once

#include <cstdint>
#include <vector>

#include "run/directory_lock.h"
#include "run/run_directory.h"
#include "run/stats_log.h"
#include "run/timing_log.h"
#include "train/thinned_series.h"

namespace acgan {

// A run directory, held for this process, with the files that grow in it, and what its steps add up
// to.
class RunLog {
 public:
  // Goes on after `last_step`; 0 for a new run.
  RunLog(RunDirectory directory, std::int64_t last_step);

  const RunDirectory& directory() const { return directory_; }
  // A row of timing.csv; a line of stats.jsonl for the steps since the last one. Where they throw
  // Error{Output} that row or line is lost and the next one may be tried.
  void add(const StepRecord& record);
  void flush_interval();

  // Steps, images, times and skips; the rest is the caller's to fill in. `start` stands for a run
  // without a step.
  RunSummary summarize(const StepRecord& start) const;

 private:
  RunDirectory directory_;
  DirectoryLock lock_;
  TimingLog timing_;
  StatsLog stats_;
  std::vector<StepRecord> interval_;
  ThinnedSeries times_;  // ms of every step
  StepRecord last_;
};

}  // namespace acgan
