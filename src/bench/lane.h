#pragma once

#include <array>
#include <vector>

#include "bench/bench_data.h"
#include "config/config.h"
#include "data/data_loader.h"
#include "train/train_step.h"

namespace acgan {

// "fp32", "mixed bf16"
std::string precision_label(DType compute);

// One way to compute at one batch size, ready to be measured: the same steps as in training.
class Lane {
 public:
  // Precision and batch are the config's. Throws Error{Device} where it does not fit into memory.
  Lane(Backend& backend, const BenchData& data, const Config& config);

  // Steps that are in no figure.
  void warm_up(std::int64_t steps);
  // A step that counts in no figure: after another lane's block the caches are that lane's.
  void settle() { start_step(); }
  // Measures so many steps that follow each other, as the device sees them: from where it has
  // finished one to where it has finished the next.
  void measure(std::int64_t steps);

  // The same until so many seconds of steps are over: at most two steps more.
  void measure_for(double seconds);

  const Config& config() const { return config_; }
  DType compute() const { return step_.options().compute; }
  const TrainStep& step() const { return step_; }
  std::size_t bytes() const;  // of the step and the data set
  const std::vector<double>& milliseconds() const { return milliseconds_; }
  double seconds() const { return seconds_; }  // sum of these
  std::int64_t warm_up_steps() const { return warm_up_steps_; }
  std::int64_t steps() const { return steps_; }            // all that were run
  const StepMetrics& metrics() const { return metrics_; }  // of the last step measured
  // One step, as the last ones took; 0 before any.
  double step_seconds() const { return step_seconds_; }
  // Updates that were left out since the warm-up, and those that were so one after the other.
  std::int64_t skipped() const;
  bool is_diverging() const;

 private:
  void start_step();
  template <typename IsMoreWanted>
  void measure_while(const IsMoreWanted& is_more_wanted);

  const BenchData& data_;
  Config config_;
  TrainStep step_;
  DataLoader loader_;
  std::vector<std::int32_t> indices_;
  // Of the step whose time is asked for, the one before and the one under way.
  std::array<std::unique_ptr<Readback>, 3> outcomes_;
  std::unique_ptr<Readback> resting_;
  std::vector<OptimizerState> optimizers_;  // as the newest outcome says
  std::int64_t skipped_before_ = 0;         // while warming up
  std::int64_t warm_up_steps_ = 0, steps_ = 0;
  StepMetrics metrics_;
  std::vector<double> milliseconds_;
  double seconds_ = 0, step_seconds_ = 0;
};

}  // namespace acgan
