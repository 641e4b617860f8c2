#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/launch.h"
#include "tensor/half.h"

// The tensor-core and asynchronous-copy instructions that our kernels use: the only file with
// inline PTX. Each function is one instruction, or its substitute on older architectures; on the
// emulated device it is the twin in cuda/emulation/instructions.h.
namespace acgan::cuda {

// The number that pipeline_stages() is on a device of this compute capability, major * 10 + minor.
inline int pipeline_stages_of(int arch) {
  if (arch < 80) return 2;
  return arch == 86 || arch == 89 || arch >= 120 ? 3 : 4;
}

#if defined(__CUDACC__)

// ldmatrix and mma.m16n8k8 are there from sm_75 on. For sm_60 and sm_70, which a CUDA 12 toolkit
// can still build for, kernels that use them compile to a trap: launchers take CUDA cores there.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 750
#define ACGAN_TENSOR_CORES 0
#else
#define ACGAN_TENSOR_CORES 1
#endif

// First in every kernel that uses ldmatrix or mma: where there are none, nothing after it is
// compiled.
__device__ __forceinline__ void require_tensor_cores() {
#if !ACGAN_TENSOR_CORES
  __trap();
#endif
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define ACGAN_ASYNC_COPY 0
#else
#define ACGAN_ASYNC_COPY 1
#endif

// Whether global -> shared copies bypass the registers (cp.async, sm_80 and newer).
inline constexpr bool kAsyncCopy = ACGAN_ASYNC_COPY != 0;
__device__ __forceinline__ constexpr bool has_async_copy() { return kAsyncCopy; }

// Stages of the pipeline that fetches operands: with asynchronous copies one is read while the
// others are in flight, four where 160 KiB and more of shared memory hold two large blocks of them,
// three where 100 KiB do; without, one waits in registers while one is read.
#if !ACGAN_ASYNC_COPY
inline constexpr int kPipelineStages = 2;
#elif defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
inline constexpr int kPipelineStages = 3;
#else
inline constexpr int kPipelineStages = 4;
#endif
__device__ __forceinline__ constexpr int pipeline_stages() { return kPipelineStages; }

__device__ __forceinline__ unsigned shared_address(const void* address) {
  return static_cast<unsigned>(__cvta_generic_to_shared(address));
}

// 16 bytes global -> shared; zeros where !valid, and then nothing is read.
__device__ __forceinline__ void async_copy16(void* destination, const void* source, bool valid) {
#if ACGAN_ASYNC_COPY
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(destination)),
               "l"(source), "r"(valid ? 16 : 0)
               : "memory");
#endif
}
__device__ __forceinline__ void async_commit() {
#if ACGAN_ASYNC_COPY
  asm volatile("cp.async.commit_group;\n" ::: "memory");
#endif
}
// Waits until at most kKeep of this thread's newest groups are in flight.
template <int kKeep>
__device__ __forceinline__ void async_wait() {
#if ACGAN_ASYNC_COPY
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kKeep) : "memory");
#endif
}

// Waits for the oldest stage in flight, when all but the one that is read are.
__device__ __forceinline__ void async_wait_for_stage() {
  if constexpr (kAsyncCopy) async_wait<kPipelineStages - 2>();
}

// Four 8x8 matrices of 16-bit elements; lane l gives the address of row l%8 of matrix l/8. Register
// i of lane l gets row l/4 of matrix i, columns 2(l%4) and 2(l%4)+1.
__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&r)[4], const void* row) {
#if ACGAN_TENSOR_CORES
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
#else
  r[0] = r[1] = r[2] = r[3] = 0;
#endif
}
// The same with each matrix transposed.
__device__ __forceinline__ void ldmatrix_x4_transposed(std::uint32_t (&r)[4], const void* row) {
#if ACGAN_TENSOR_CORES
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
#else
  r[0] = r[1] = r[2] = r[3] = 0;
#endif
}

// c (16x8, F32) += a (16x16, row-major) * b (16x8, column-major), fragments as in the PTX ISA,
// "Matrix Fragments for mma.m16n8k16". On sm_75 fp16 takes two m16n8k8; bf16 needs sm_80 (the
// launcher never sends it to an older one).
template <typename T>
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4],
                                             std::uint32_t b0, std::uint32_t b1) {
#if ACGAN_ASYNC_COPY
  if constexpr (std::is_same_v<T, BFloat16>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
#elif ACGAN_TENSOR_CORES
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[2]), "r"(a[3]), "r"(b1));
#endif
}

#else  // the emulated device: its architecture is chosen at run time

inline void require_tensor_cores() {
  if (emulation::settings.arch < 750) emulation::fault("ldmatrix and mma need sm_75");
}
inline constexpr bool kAsyncCopy = true;
inline bool has_async_copy() { return emulation::settings.arch >= 800; }
inline int pipeline_stages() { return pipeline_stages_of(emulation::settings.arch / 10); }
inline void async_copy16(void* destination, const void* source, bool valid) {
  emulation::async_copy16(destination, source, valid);
}
inline void async_commit() { emulation::async_commit(); }
template <int kKeep>
void async_wait() {
  emulation::async_wait(kKeep);
}
inline void async_wait_for_stage() {
  if (has_async_copy()) emulation::async_wait(static_cast<std::size_t>(pipeline_stages() - 2));
}
inline void ldmatrix_x4(std::uint32_t (&r)[4], const void* row) {
  emulation::ldmatrix_x4(r, false, row);
}
inline void ldmatrix_x4_transposed(std::uint32_t (&r)[4], const void* row) {
  emulation::ldmatrix_x4(r, true, row);
}
template <typename T>
void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  constexpr bool kBFloat16 = std::is_same_v<T, BFloat16>;
  const std::uint32_t b[2] = {b0, b1};
  if (emulation::settings.arch >= 800) return emulation::mma(c, a, b, 16, kBFloat16);
  if (kBFloat16) emulation::fault("mma: bf16 needs sm_80");
  emulation::mma(c, a, b, 8, false);
  emulation::mma(c, a + 2, b + 1, 8, false);
}

#endif

}  // namespace acgan::cuda
