#pragma once

#include <array>
#include <cstdint>

namespace acgan::gemm {

// Cache lines that will be read soon. The kernel asks for one of them every few cycles: a burst of
// prefetches would take all of the core's outstanding misses, and the kernel would wait for them
// (one core of a Zen 3, F32 weights in memory, 64 rows: 65 GFLOP/s with bursts, 72 without).
class LineQueue {
 public:
  static constexpr std::int64_t kLine = 64;  // bytes
  static constexpr std::int64_t kMostTaken = 64;

  // All lines of [begin, end); as many as there is room for, since it is only advice.
  void add(const void* begin, const void* end) {
    if (first_ == last_) first_ = last_ = 0;
    const char* line = static_cast<const char*>(begin);
    for (; line < static_cast<const char*>(end) && last_ < kCapacity; line += kLine) {
      lines_[static_cast<std::size_t>(last_++)] = line;
    }
  }

  // The next `count` lines, at most kMostTaken, filled up with harmless ones; null without any.
  const void* const* take(std::int64_t count) {
    if (first_ == last_) return nullptr;
    const void* const* taken = lines_.data() + first_;
    for (std::int64_t i = last_; i < first_ + count; ++i) {
      lines_[static_cast<std::size_t>(i)] = this;
    }
    first_ = first_ + count < last_ ? first_ + count : last_;
    return taken;
  }

 private:
  static constexpr std::int64_t kCapacity = 1024;

  std::array<const void*, kCapacity + kMostTaken> lines_;
  std::int64_t first_ = 0, last_ = 0;
};

}  // namespace acgan::gemm
