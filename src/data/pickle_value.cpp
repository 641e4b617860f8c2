#include "data/pickle_value.h"

#include <stdexcept>
#include <utility>

#include "base/check.h"

namespace acgan {
namespace {

// CIFAR-100's 50000 records have two labels and a file name each; Python 3 takes four values for a
// name.
constexpr std::size_t kMostValues = std::size_t{1} << 20;

}  // namespace

PickleId PickleHeap::add(PickleValue value) {
  if (values_.size() == kMostValues) throw std::length_error("it holds more than 2^20 values");
  values_.push_back(std::move(value));
  return static_cast<PickleId>(values_.size() - 1);
}

std::span<const std::uint8_t> PickleHeap::keep(std::vector<std::uint8_t> bytes) {
  if (bytes.size() > most_owned_bytes_ - owned_bytes_) {
    throw std::length_error("its texts grow beyond three times the file's size");
  }
  owned_bytes_ += bytes.size();
  return owned_.emplace_back(std::move(bytes));
}

void PickleHeap::set_array(PickleId id, const PickleArray& array) {
  values_[id].kind = PickleValue::Kind::Array;
  values_[id].number = static_cast<std::int64_t>(arrays_.size());
  arrays_.push_back(array);
}

const PickleArray& PickleHeap::array(PickleId id) const {
  ACGAN_CHECK(values_[id].is(PickleValue::Kind::Array));
  return arrays_[static_cast<std::size_t>(values_[id].number)];
}

}  // namespace acgan
