#include "data/data_loader.h"

#include <limits>
#include <numeric>
#include <utility>

#include "backend/philox.h"
#include "base/error.h"

namespace acgan {

DataLoader::DataLoader(std::int64_t count, std::uint64_t seed) : seed_(seed) {
  ACGAN_CHECK(count > 0 && count <= std::numeric_limits<std::int32_t>::max());
  order_.resize(static_cast<std::size_t>(count));
  shuffle();
}

void DataLoader::next(std::span<std::int32_t> indices) {
  for (std::int32_t& index : indices) {
    if (position_.index == static_cast<std::int64_t>(order_.size())) {
      position_ = {.epoch = position_.epoch + 1, .index = 0};
      shuffle();
    }
    index = order_[static_cast<std::size_t>(position_.index++)];
  }
}

void DataLoader::seek(const Position& position) {
  const auto count = static_cast<std::int64_t>(order_.size());
  if (position.index < 0 || position.index > count) {
    fail(ErrorKind::Output,
         "data position {} of epoch {} is outside this set of {} images: the checkpoint belongs "
         "to another data set",
         position.index, position.epoch, count);
  }
  position_ = position;
  shuffle();
}

// Fisher-Yates from the identity, so that an epoch's order needs no earlier epoch.
void DataLoader::shuffle() {
  std::iota(order_.begin(), order_.end(), std::int32_t{0});
  PhiloxSequence random(seed_, RandomStream::Shuffle, position_.epoch);
  for (std::size_t last = order_.size() - 1; last > 0; --last) {
    std::swap(order_[last], order_[random.next_below(static_cast<std::uint32_t>(last + 1))]);
  }
}

}  // namespace acgan
