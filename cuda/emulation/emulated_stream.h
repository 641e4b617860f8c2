#pragma once

#include <functional>
#include <vector>

#include "cuda/stream.h"

namespace acgan::emulation {

// What an emulated stream handle points at. Work runs at once; while a graph is captured it is kept
// instead, with its arguments by value, as CUDA keeps it.
struct EmulatedStream {
  bool capturing = false;
  std::vector<std::function<void()>> captured;
};

inline EmulatedStream& as_emulated(cuda::Stream stream) {
  return *reinterpret_cast<EmulatedStream*>(stream);
}

// `work` is a kernel, a copy or a library call on `stream`.
inline void enqueue(cuda::Stream stream, std::function<void()> work) {
  EmulatedStream& own = as_emulated(stream);
  if (own.capturing) {
    own.captured.push_back(std::move(work));
  } else {
    work();
  }
}

}  // namespace acgan::emulation
