#include "bench/bench_data.h"

namespace acgan {

namespace {

constexpr std::int64_t kSmallestBatch = 2;

const Dataset& checked(const Dataset& dataset) {
  check_dataset(dataset, kSmallestBatch);
  return dataset;
}

}  // namespace

BenchData::BenchData(Backend& backend, Dataset dataset)
    : dataset_(std::move(dataset)),
      images_(backend,
              {checked(dataset_).count(), dataset_.height, dataset_.width, dataset_.channels},
              DType::U8),
      labels_(backend, {dataset_.count()}, DType::I32) {
  backend.upload(images_.view(), dataset_.images.data());
  backend.upload(labels_.view(), dataset_.labels.data());
  backend.synchronize();
  dataset_.images = {};
}

}  // namespace acgan
