#pragma once

#include "data/dataset.h"
#include "train/train_step.h"

namespace acgan {

// A data set on a device, for any number of training steps there.
class BenchData {
 public:
  // Throws Error{Data} where no step at all can be fed from it.
  BenchData(Backend& backend, Dataset dataset);

  const Dataset& dataset() const { return dataset_; }
  std::int64_t count() const { return dataset_.count(); }
  const Tensor& images() const { return images_.view(); }
  const Tensor& labels() const { return labels_.view(); }
  std::size_t bytes() const { return images().bytes() + labels().bytes(); }

 private:
  Dataset dataset_;  // without its images, which the device has
  OwnedTensor images_, labels_;
};

}  // namespace acgan
