#include "train/step_pipeline.h"

namespace acgan {

StepPipeline::StepPipeline(TrainStep& step)
    : step_(step), resting_(step.backend().make_readback({})) {
  for (auto& outcome : outcomes_) outcome = step_.make_outcome_readback();
}

void StepPipeline::resting_if_idle() {
  if (under_way() != 0) return;
  resting_->start();
  began_ = resting_.get();
}

void StepPipeline::start() {
  ACGAN_CHECK(under_way() < kDepth);
  step_.run();
  outcomes_[started_ % outcomes_.size()]->start();
  ++started_;
}

StepPipeline::Completed StepPipeline::complete() {
  ACGAN_CHECK(under_way() > 0);
  Readback& readback = *outcomes_[completed_ % outcomes_.size()];
  readback.wait();
  const double seconds = 1e-3 * readback.milliseconds_since(*began_);
  began_ = &readback;
  ++completed_;
  return {step_.outcome(readback), seconds};
}

bool StepPipeline::is_oldest_ready() const {
  return outcomes_[completed_ % outcomes_.size()]->is_ready();
}

}  // namespace acgan
