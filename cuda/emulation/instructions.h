#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "cuda/emulation/machine.h"

// The emulated twins of what cuda/tile/ writes in PTX, and of warp shuffles and votes. Loads and
// stores of user memory stand in this header, so that they are compiled into the kernels and a
// sanitizer sees them; the arithmetic is in instructions.cpp.
namespace acgan::emulation {

struct alignas(16) Bytes16 {
  std::uint32_t word[4];
};

// ldmatrix .x4 (.trans): register i of lane l gets row l/4 of matrix i, columns 2(l%4), 2(l%4)+1.
struct Ldmatrix {
  static constexpr const char* kName = "ldmatrix";
  std::uint16_t row[8];
  const void* address;
  std::uint32_t* out;
  bool transpose;
  static void run(void** lane, unsigned mask);
};

// D += A*B, m16n8k8 or m16n8k16, fp16 or bf16 in, f32 accumulate.
struct Mma {
  static constexpr const char* kName = "mma";
  float* c;
  const std::uint32_t *a, *b;
  int k;
  bool bf16;
  static void run(void** lane, unsigned mask);
};

struct Shuffle {
  static constexpr const char* kName = "shfl";
  std::uint64_t in, out;
  unsigned source;  // lane read from
  static void run(void** lane, unsigned mask);
};
struct Vote {
  static constexpr const char* kName = "vote";
  bool predicate;
  unsigned ballot;
  static void run(void** lane, unsigned mask);
};
struct SyncWarp {
  static constexpr const char* kName = "syncwarp";
  static void run(void**, unsigned) {}
};

template <class Operation>
void collective(unsigned mask, Operation& self, bool fence = false) {
  warp_collective(Operation::kName, mask, &Operation::run, &self, fence);
}

inline void ldmatrix_x4(std::uint32_t* out, bool transpose, const void* row) {
  Ldmatrix operation{{}, row, out, transpose};
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0)
    fault("ldmatrix: row is not 16-byte aligned");
  if (!is_shared(row)) fault("ldmatrix: row is not in shared memory");
  const Bytes16 loaded = *static_cast<const Bytes16*>(row);
  std::memcpy(operation.row, &loaded, 16);
  collective(~0u, operation);
}

inline void mma(float* c, const std::uint32_t* a, const std::uint32_t* b, int k, bool bf16) {
  Mma operation{c, a, b, k, bf16};
  collective(~0u, operation);
}

inline void sync_warp(unsigned mask) {
  SyncWarp operation;
  collective(mask, operation, true);
}

template <class T>
T shuffle(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= 8);
  Shuffle operation{0, 0, source};
  std::memcpy(&operation.in, &value, sizeof(T));
  collective(mask, operation);
  std::memcpy(&value, &operation.out, sizeof(T));
  return value;
}
inline unsigned ballot(unsigned mask, bool predicate) {
  Vote operation{predicate, 0};
  collective(mask, operation);
  return operation.ballot;
}

// ---- cp.async
struct AsyncCopy {
  Bytes16 data;
  void* destination;
};
struct AsyncQueue {  // one for each thread: copies not yet landed, oldest first
  std::vector<AsyncCopy> copies;
  std::vector<std::size_t> group_ends;  // committed groups, as ends in `copies`
};

// 16 bytes global -> shared, zeros where !valid. The schedule decides whether it lands at once, the
// earliest legal moment, or at the wait, the latest; until then the destination is poison.
inline void async_copy16(void* destination, const void* source, bool valid) {
  if (reinterpret_cast<std::uintptr_t>(destination) % 16 != 0) {
    fault("cp.async: destination is not 16-byte aligned");
  }
  if (valid && reinterpret_cast<std::uintptr_t>(source) % 16 != 0) {
    fault("cp.async: source is not 16-byte aligned");
  }
  if (!is_shared(destination)) fault("cp.async: destination is not in shared memory");
  AsyncCopy copy{{}, destination};
  if (valid) copy.data = *static_cast<const Bytes16*>(source);
  if (settings.schedule != Schedule::InOrder && coin()) {
    std::memcpy(destination, &copy.data, 16);
  } else {
    std::memset(destination, 0xFF, 16);
    async_queue().copies.push_back(copy);
  }
}
inline void async_commit() {
  AsyncQueue& queue = async_queue();
  queue.group_ends.push_back(queue.copies.size());
}
// Waits until at most `keep` of this thread's newest groups are in flight.
inline void async_wait(std::size_t keep) {
  AsyncQueue& queue = async_queue();
  if (queue.group_ends.size() <= keep) return;
  const std::size_t groups = queue.group_ends.size() - keep;
  const std::size_t landed = queue.group_ends[groups - 1];
  for (std::size_t i = 0; i < landed; ++i) {
    std::memcpy(queue.copies[i].destination, &queue.copies[i].data, 16);
  }
  queue.copies.erase(queue.copies.begin(),
                     queue.copies.begin() + static_cast<std::ptrdiff_t>(landed));
  queue.group_ends.erase(queue.group_ends.begin(),
                         queue.group_ends.begin() + static_cast<std::ptrdiff_t>(groups));
  for (std::size_t& end : queue.group_ends) end -= landed;
}

}  // namespace acgan::emulation
