#pragma once

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace acgan {

// A view of an array in a backend's memory: dense, row-major, owns nothing. An empty Tensor
// (no data) stands for "not wanted" where an operation says so.
struct Tensor {
  void* data = nullptr;
  Shape shape;
  DType dtype = DType::F32;

  explicit operator bool() const { return data != nullptr; }
  std::int64_t count() const { return shape.count(); }
  std::size_t bytes() const { return static_cast<std::size_t>(count()) * size_of(dtype); }

  // Extent of the first axis, and the number of elements behind one index of it.
  std::int64_t rows() const { return shape[0]; }
  std::int64_t row_size() const { return rows() == 0 ? 0 : count() / rows(); }

  template <typename T>
  T* as() const {
    ACGAN_CHECK(dtype == DTypeOf<T>::value);
    return static_cast<T*>(data);
  }

  // The rows [begin, begin + n) of the first axis.
  Tensor slice(std::int64_t begin, std::int64_t n) const {
    ACGAN_CHECK(begin >= 0 && n >= 0 && begin + n <= rows());
    Shape part{n};
    for (int axis = 1; axis < shape.rank(); ++axis) part.push_back(shape[axis]);
    const std::size_t offset = static_cast<std::size_t>(begin * row_size()) * size_of(dtype);
    return {static_cast<std::byte*>(data) + offset, part, dtype};
  }

  Tensor reshaped(const Shape& other) const {
    ACGAN_CHECK(other.count() == count());
    return {data, other, dtype};
  }
};

}  // namespace acgan
