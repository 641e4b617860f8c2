#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "train/train_step.h"

namespace acgan {

enum class Residence { Auto, Device, Host };

// Where the images of a step come from: the whole set lies in the device's memory as uint8, or,
// where it does not fit there, each batch is gathered on the host and sent over while the device
// computes the step before.
class ImageFeed {
 public:
  // Auto: the device where the set fits beside `step_bytes` of the training step. `dataset` must
  // live on; once the device has them it may give up its pixels.
  ImageFeed(Backend& backend, const Dataset& dataset, std::int64_t batch, std::size_t step_bytes,
            Residence residence = Residence::Auto);

  bool on_device() const { return on_device_; }
  void load(TrainStep& step, std::span<const std::int32_t> indices);

 private:
  Backend& backend_;
  const Dataset& dataset_;
  bool on_device_;
  OwnedTensor images_, labels_;  // the whole set, or one batch
  std::vector<std::uint8_t> batch_pixels_;
  std::vector<std::int32_t> batch_classes_, in_order_;
};

}  // namespace acgan
