#pragma once

#include <cstdint>

#include "cuda/device.h"

namespace acgan::cuda {

// Device memory that operations write partial results to, one after the other. It grows outside
// captured work only: a step that has run once eagerly has it large enough.
class Scratch {
 public:
  explicit Scratch(Device& device) : device_(device) {}
  ~Scratch() { device_.release(memory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // F32 [count], undefined contents; valid until the next operation asks.
  float* floats(std::int64_t count) {
    const std::size_t wanted = static_cast<std::size_t>(count) * sizeof(float);
    if (wanted > bytes_) {
      device_.synchronize();
      device_.release(memory_);
      memory_ = nullptr;
      memory_ = device_.allocate(wanted);
      bytes_ = wanted;
    }
    return static_cast<float*>(memory_);
  }

  std::size_t bytes() const { return bytes_; }

 private:
  Device& device_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace acgan::cuda
