#include "train/schedule.h"

#include <algorithm>
#include <cmath>

namespace acgan {

Schedule::Schedule(double every_minutes, const std::vector<double>& at_minutes)
    : every_seconds_(60 * every_minutes), next_regular_(every_seconds_) {
  for (const double minutes : at_minutes) points_.push_back(60 * minutes);
  std::sort(points_.begin(), points_.end());
}

bool Schedule::due(double elapsed_seconds) {
  bool is_due = false;
  while (next_point_ < points_.size() && points_[next_point_] <= elapsed_seconds) {
    ++next_point_;
    is_due = true;
  }
  if (every_seconds_ > 0 && next_regular_ <= elapsed_seconds) {
    next_regular_ = (std::floor(elapsed_seconds / every_seconds_) + 1) * every_seconds_;
    is_due = true;
  }
  return is_due;
}

}  // namespace acgan
