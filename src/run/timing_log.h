#pragma once

#include <cstdint>
#include <string>

#include "run/line_log.h"
#include "run/step_record.h"

namespace acgan {

// timing.csv: a header and one row a step, flushed. Opening an existing file appends; rows after
// `last_step` (written before a crash, after the checkpoint resumed from) are cut off first. Throws
// Error{Output}.
class TimingLog {
 public:
  TimingLog(const std::string& path, std::int64_t last_step);
  void add(const StepRecord& record);

 private:
  LineLog log_;
};

}  // namespace acgan
