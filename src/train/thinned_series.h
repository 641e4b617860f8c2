#pragma once

#include <cstddef>
#include <vector>

namespace acgan {

// A series of which quantiles are wanted, in bounded memory: all values, or, once there are
// `capacity` (an even number), every second, fourth, ... of them, evenly over the whole series.
class ThinnedSeries {
 public:
  explicit ThinnedSeries(std::size_t capacity = std::size_t{1} << 18) : capacity_(capacity) {}

  void add(double value) {
    if (seen_++ % stride_ != 0) return;
    if (values_.size() == capacity_) {
      for (std::size_t i = 0; i < capacity_ / 2; ++i) values_[i] = values_[2 * i];
      values_.resize(capacity_ / 2);
      stride_ *= 2;
    }
    values_.push_back(value);
  }

  const std::vector<double>& values() const { return values_; }  // in their order

 private:
  std::size_t capacity_, stride_ = 1, seen_ = 0;
  std::vector<double> values_;
};

}  // namespace acgan
