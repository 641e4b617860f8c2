#pragma once

#include <cstddef>
#include <type_traits>

#include "cuda/stream.h"

// The only way to start a kernel and to get shared memory: one source for two compilers, nvcc (the
// GPU) and a plain C++ compiler (the emulated device).

#if defined(__CUDACC__)

#include <cuda_runtime.h>

#include "cuda/launch_failure.h"

#define SHARED(type, name) __shared__ type name

namespace acgan::cuda {

// Slices the dynamic shared memory of a launch. Every thread takes the same slices in order; each
// starts on a multiple of 128 bytes.
struct SharedArena {
  unsigned offset = 0;
  template <class T>
  __device__ __forceinline__ T* take(unsigned count) {
    extern __shared__ __align__(128) unsigned char dynamic_shared[];
    T* slice = reinterpret_cast<T*>(dynamic_shared + offset);
    offset += (count * static_cast<unsigned>(sizeof(T)) + 127) / 128 * 128;
    return slice;
  }
};

inline void check_launch(cudaError_t error) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // a later call must not report it again
  launch_failed(cudaGetErrorName(error), cudaGetErrorString(error));
}

// Starts kernel(arguments...) on `stream`. Throws Error{Device} where the device refuses it.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t dynamic_shared,
            Stream stream, std::type_identity_t<Parameters>... arguments) {
  if (dynamic_shared > 48 * 1024) {
    check_launch(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(dynamic_shared)));
  }
  cudaLaunchConfig_t shape{};
  shape.gridDim = grid;
  shape.blockDim = block;
  shape.dynamicSmemBytes = dynamic_shared;
  shape.stream = stream;
  check_launch(cudaLaunchKernelEx(&shape, kernel, arguments...));
}

}  // namespace acgan::cuda

#else

#include "cuda/emulation/cuda_words.h"
#include "cuda/emulation/emulated_stream.h"

#define SHARED(type, name)          \
  static const char name##_key = 0; \
  type& name =                      \
      *static_cast<type*>(::acgan::emulation::shared_slot(&name##_key, sizeof(type), false))

namespace acgan::cuda {

struct SharedArena {
  unsigned slices = 0;
  template <class T>
  T* take(unsigned count) {
    static const char keys[16] = {};
    return static_cast<T*>(
        ::acgan::emulation::shared_slot(&keys[slices++], count * sizeof(T), true));
  }
};

template <class... Parameters>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t dynamic_shared,
            Stream stream, std::type_identity_t<Parameters>... arguments) {
  emulation::enqueue(stream, [=] {
    auto call = [&] { kernel(arguments...); };
    emulation::run(
        grid, block, dynamic_shared, [](void* c) { (*static_cast<decltype(call)*>(c))(); }, &call);
  });
}

}  // namespace acgan::cuda

#endif
