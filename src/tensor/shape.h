#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/check.h"

namespace acgan {

// Up to four extents, outermost first; images are [N,H,W,C].
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) {
    ACGAN_CHECK(extents.size() <= kMaxRank);
    for (const std::int64_t extent : extents) push_back(extent);
  }

  void push_back(std::int64_t extent) {
    ACGAN_CHECK(rank_ < kMaxRank && extent >= 0);
    extents_[static_cast<std::size_t>(rank_++)] = extent;
  }

  int rank() const { return rank_; }
  std::int64_t operator[](int axis) const {
    ACGAN_CHECK(axis >= 0 && axis < rank_);
    return extents_[static_cast<std::size_t>(axis)];
  }
  std::int64_t back() const { return (*this)[rank_ - 1]; }
  std::int64_t count() const {
    std::int64_t product = 1;
    for (int axis = 0; axis < rank_; ++axis) product *= (*this)[axis];
    return product;
  }
  bool operator==(const Shape& other) const = default;

  std::string text() const {
    std::string result = "[";
    for (int axis = 0; axis < rank_; ++axis) {
      if (axis > 0) result += ",";
      result += std::to_string((*this)[axis]);
    }
    return result + "]";
  }

 private:
  std::array<std::int64_t, kMaxRank> extents_{};
  int rank_ = 0;
};

}  // namespace acgan
