#pragma once

#include "backend/buffer.h"

namespace acgan::test {

// One plain value in a backend's memory, such as an OptimizerState.
template <typename T>
class DeviceValue {
 public:
  DeviceValue(Backend& backend, const T& value) : backend_(&backend), buffer_(backend, sizeof(T)) {
    write(value);
  }

  T* get() const { return static_cast<T*>(buffer_.data()); }
  void write(const T& value) { backend_->upload(bytes(), &value); }
  T read() const {
    T value;
    backend_->download(&value, bytes());
    return value;
  }

 private:
  Tensor bytes() const { return {buffer_.data(), {std::int64_t{sizeof(T)}}, DType::U8}; }

  Backend* backend_;
  Buffer buffer_;
};

}  // namespace acgan::test
