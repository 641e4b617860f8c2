#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "train/train_step.h"

namespace acgan {

// Steps under way: the device always has the next one while the program looks at the last one.
class StepPipeline {
 public:
  // Most steps that may be under way.
  static constexpr std::size_t kDepth = 2;

  explicit StepPipeline(TrainStep& step);

  // Starts a step on the batch that was loaded before; call resting_if_idle() ahead of loading.
  void start();
  // The device's clock starts here where it has nothing to do: a step's time is counted from where
  // the one before ended.
  void resting_if_idle();

  struct Completed {
    StepOutcome outcome;
    double seconds;
  };
  // Waits for the oldest step under way.
  Completed complete();
  // Whether complete() would not wait.
  bool is_oldest_ready() const;

  std::size_t under_way() const { return started_ - completed_; }
  std::size_t started() const { return started_; }  // by this process

 private:
  TrainStep& step_;
  // One more than can be under way, for the end of the step before the oldest.
  std::array<std::unique_ptr<Readback>, kDepth + 1> outcomes_;
  std::unique_ptr<Readback> resting_;
  const Readback* began_ = nullptr;  // where the time of the oldest step begins
  std::size_t started_ = 0, completed_ = 0;
};

}  // namespace acgan
