#include "train/image_feed.h"

#include <algorithm>
#include <numeric>

namespace acgan {
namespace {

// Left to what operations and a sample grid will ask for.
constexpr std::size_t kReservedBytes = std::size_t{512} << 20;

bool fits(const Backend& backend, const Dataset& dataset, std::size_t step_bytes) {
  const std::size_t wanted = dataset.images.size() + 4 * dataset.labels.size();
  return wanted + step_bytes + kReservedBytes <= backend.free_bytes();
}

}  // namespace

ImageFeed::ImageFeed(Backend& backend, const Dataset& dataset, std::int64_t batch,
                     std::size_t step_bytes, Residence residence)
    : backend_(backend),
      dataset_(dataset),
      on_device_(residence == Residence::Device ||
                 (residence == Residence::Auto && fits(backend, dataset, step_bytes))) {
  const std::int64_t rows = on_device_ ? dataset.count() : batch;
  images_ =
      OwnedTensor(backend, {rows, dataset.height, dataset.width, dataset.channels}, DType::U8);
  labels_ = OwnedTensor(backend, {rows}, DType::I32);
  if (on_device_) {
    backend.upload(images_.view(), dataset.images.data());
    backend.upload(labels_.view(), dataset.labels.data());
    return;
  }
  batch_pixels_.resize(images_.view().bytes());
  batch_classes_.resize(static_cast<std::size_t>(batch));
  in_order_.resize(static_cast<std::size_t>(batch));
  std::iota(in_order_.begin(), in_order_.end(), 0);
}

void ImageFeed::load(TrainStep& step, std::span<const std::int32_t> indices) {
  if (on_device_) return step.load_batch(images_.view(), labels_.view(), indices);
  ACGAN_CHECK(indices.size() == in_order_.size());
  const auto size = static_cast<std::size_t>(images_.view().row_size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto index = static_cast<std::size_t>(indices[i]);
    ACGAN_CHECK(index < dataset_.labels.size());
    std::copy_n(&dataset_.images[index * size], size, &batch_pixels_[i * size]);
    batch_classes_[i] = dataset_.labels[index];
  }
  backend_.upload(images_.view(), batch_pixels_.data());
  backend_.upload(labels_.view(), batch_classes_.data());
  step.load_batch(images_.view(), labels_.view(), in_order_);
}

}  // namespace acgan
