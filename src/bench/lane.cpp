#include "bench/lane.h"

#include <algorithm>
#include <chrono>

#include "base/format.h"
#include "train/train_setup.h"

namespace acgan {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t skips_in(const std::vector<OptimizerState>& optimizers) {
  std::int64_t skips = 0;
  for (const OptimizerState& state : optimizers) skips += state.skipped;
  return skips;
}

}  // namespace

std::string precision_label(DType compute) {
  return compute == DType::F32 ? "fp32" : fmt::format("mixed {}", name_of(compute));
}

Lane::Lane(Backend& backend, const BenchData& data, const Config& config)
    : data_(data),
      config_(config),
      step_(backend, step_options(config, data.dataset(), compute_type(config.precision, backend),
                                  config.train.seed.value_or(1))),
      loader_(data.count(), config.train.seed.value_or(1)),
      indices_(static_cast<std::size_t>(config.train.batch)),
      resting_(backend.make_readback({})) {
  step_.initialize(config.train.seed.value_or(1));
  for (auto& outcome : outcomes_) outcome = step_.make_outcome_readback();
}

void Lane::start_step() {
  step_.load_step([this] {
    loader_.next(indices_);
    step_.load_batch(data_.images(), data_.labels(), indices_);
  });
  step_.run();
  ++steps_;
}

void Lane::warm_up(std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) {
    const Clock::time_point start = Clock::now();
    start_step();
    outcomes_[0]->start();
    outcomes_[0]->wait();
    step_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  }
  if (steps > 0) optimizers_ = step_.outcome(*outcomes_[0]).optimizers;
  skipped_before_ = skips_in(optimizers_);
  warm_up_steps_ += steps;
}

// `is_more_wanted(started, seconds)`: whether one more step is to be started, `seconds` after the
// first of the completed ones began.
template <typename IsMoreWanted>
void Lane::measure_while(const IsMoreWanted& is_more_wanted) {
  double sum = 0;
  std::int64_t started = 0, completed = 0;
  resting_->start();
  const Readback* before = resting_.get();
  const auto outcome_of = [&](std::int64_t step) -> Readback& {
    return *outcomes_[static_cast<std::size_t>(step) % outcomes_.size()];
  };
  const auto complete = [&] {
    Readback& outcome = outcome_of(completed);
    resting_->wait();
    outcome.wait();
    milliseconds_.push_back(outcome.milliseconds_since(*before));
    sum += 1e-3 * milliseconds_.back();
    before = &outcome;
    StepOutcome left = step_.outcome(outcome);
    optimizers_ = std::move(left.optimizers);
    metrics_ = left.metrics;
    ++completed;
  };
  // The device always has the next step while this program looks at the last one.
  while (is_more_wanted(started, sum)) {
    start_step();
    outcome_of(started).start();
    if (started > 0) complete();
    ++started;
  }
  if (completed < started) complete();
  if (completed > 0) step_seconds_ = sum / static_cast<double>(completed);
  seconds_ += sum;
}

void Lane::measure(std::int64_t steps) {
  measure_while([steps](std::int64_t started, double) { return started < steps; });
}

void Lane::measure_for(double seconds) {
  measure_while([seconds](std::int64_t, double so_far) { return so_far < seconds; });
}

std::size_t Lane::bytes() const {
  std::size_t bytes = data_.bytes();
  for (const MemoryShare& share : step_.memory()) bytes += share.bytes;
  // Operations keep their workspace from batch size to batch size: it is no lane's own.
  return bytes - step_.backend().workspace_bytes();
}

std::int64_t Lane::skipped() const { return skips_in(optimizers_) - skipped_before_; }

bool Lane::is_diverging() const {
  return std::ranges::any_of(optimizers_, [this](const OptimizerState& state) {
    return state.consecutive_skips > config_.precision.max_consecutive_skips;
  });
}

}  // namespace acgan
