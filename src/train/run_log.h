#pragma once

#include <cstdint>
#include <vector>

#include "run/directory_lock.h"
#include "run/run_directory.h"
#include "run/stats_log.h"
#include "run/timing_log.h"

namespace acgan {

// A run directory, held for this process, with the files that grow in it, and what its steps add up
// to.
class RunLog {
 public:
  // Goes on after `last_step`; 0 for a new run.
  RunLog(RunDirectory directory, std::int64_t last_step);

  const RunDirectory& directory() const { return directory_; }
  void add(const StepRecord& record);  // a row of timing.csv
  void flush_interval();               // a line of stats.jsonl for the steps since the last one

  // Steps, images, times and skips; the rest is the caller's to fill in. `start` stands for a run
  // without a step.
  RunSummary summarize(std::int64_t batch, const StepRecord& start) const;

 private:
  RunDirectory directory_;
  DirectoryLock lock_;
  TimingLog timing_;
  StatsLog stats_;
  std::vector<StepRecord> interval_;
  std::vector<double> batch_ms_;
  StepRecord last_;
};

}  // namespace acgan
