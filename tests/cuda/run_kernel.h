#pragma once

#include "cuda/launch.h"

namespace acgan::test {

// One of the emulated machine's settings for the length of a test.
template <typename T>
class Setting {
 public:
  Setting(T& setting, T value) : setting_(setting), before_(setting) { setting = value; }
  ~Setting() { setting_ = before_; }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  T& setting_;
  T before_;
};

struct LaunchShape {
  unsigned threads = 32;
  unsigned blocks = 1;
  std::size_t dynamic_shared = 0;
};

// Runs kernel(arguments...) to its end.
template <class... Parameters>
void run_kernel(const LaunchShape& shape, void (*kernel)(Parameters...),
                std::type_identity_t<Parameters>... arguments) {
  emulation::EmulatedStream stream;
  cuda::launch(kernel, dim3{shape.blocks, 1, 1}, dim3{shape.threads, 1, 1}, shape.dynamic_shared,
               reinterpret_cast<cuda::Stream>(&stream), arguments...);
}

}  // namespace acgan::test
