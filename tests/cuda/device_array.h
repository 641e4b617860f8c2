#pragma once

#include <stdlib.h>

#include <cstring>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes)
#endif

#include "base/check.h"

namespace acgan::test {

// Elements that a kernel reads or writes, between two wide margins. An address sanitizer reports
// every access to those; otherwise they are NaN, so that reading them spoils the result, and
// intact() says whether anything was written there.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : bytes_(count * sizeof(T)) {
    void* memory = nullptr;
    ACGAN_CHECK(posix_memalign(&memory, 256, bytes_ + 2 * kMargin) == 0);
    base_ = static_cast<unsigned char*>(memory);
    std::memset(base_, 0xFF, bytes_ + 2 * kMargin);
    ASAN_POISON_MEMORY_REGION(base_, kMargin);
    ASAN_POISON_MEMORY_REGION(base_ + kMargin + bytes_, kMargin);
  }
  explicit DeviceArray(const std::vector<double>& values) : DeviceArray(values.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      data()[i] = from_float<T>(static_cast<float>(values[i]));
    }
  }
  ~DeviceArray() {
    ASAN_UNPOISON_MEMORY_REGION(base_, bytes_ + 2 * kMargin);
    std::free(base_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return reinterpret_cast<T*>(base_ + kMargin); }
  std::size_t count() const { return bytes_ / sizeof(T); }
  std::vector<double> values() const {  // as floats hold them
    std::vector<double> result;
    for (std::size_t i = 0; i < count(); ++i) result.push_back(to_float(data()[i]));
    return result;
  }

  bool intact() const {
#if !defined(__SANITIZE_ADDRESS__)
    for (std::size_t i = 0; i < kMargin; ++i) {
      if (base_[i] != 0xFF || base_[kMargin + bytes_ + i] != 0xFF) return false;
    }
#endif
    return true;
  }

 private:
  static constexpr std::size_t kMargin = 65536;

  unsigned char* base_ = nullptr;
  std::size_t bytes_;
};

}  // namespace acgan::test
