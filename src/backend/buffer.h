#pragma once

#include <utility>

#include "backend/backend.h"

namespace acgan {

// Owns one allocation of a backend (zeroed at first); move-only.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Backend& backend, std::size_t bytes)
      : backend_(&backend), data_(backend.allocate(bytes)), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer() {
    if (backend_ != nullptr) backend_->release(data_);
  }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  Backend* backend_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// A tensor with its memory.
class OwnedTensor {
 public:
  OwnedTensor() = default;
  OwnedTensor(Backend& backend, const Shape& shape, DType dtype)
      : buffer_(backend, Tensor{nullptr, shape, dtype}.bytes()),
        view_{buffer_.data(), shape, dtype} {}

  const Tensor& view() const { return view_; }

 private:
  Buffer buffer_;
  Tensor view_;
};

}  // namespace acgan
