#pragma once

#include <vector>

namespace acgan {

// Points in training time at which something is due: every so many minutes, and at given minutes.
class Schedule {
 public:
  // every_minutes 0: only the given points.
  explicit Schedule(double every_minutes, const std::vector<double>& at_minutes = {});

  // True once for every point passed since the last call (several passed together count once).
  bool due(double elapsed_seconds);
  // Points up to here are over: they belong to the part of the run that is being resumed.
  void skip_to(double elapsed_seconds) { due(elapsed_seconds); }

 private:
  double every_seconds_;
  double next_regular_;
  std::vector<double> points_;  // seconds, ascending
  std::size_t next_point_ = 0;
};

}  // namespace acgan
