#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

// An emulated device: runs CUDA kernel source, compiled as plain C++, on the CPU. Every CUDA thread
// of a block is a fiber; blocks run one after another on one OS thread. A fiber runs until a
// synchronising call (barrier, warp collective) and then hands over to another one, chosen by the
// schedule. Misuse throws Fault out of run().
namespace acgan::emulation {

struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

// The running fiber's; swapped at every hand-over.
inline Index3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

struct Site {  // where in a kernel's source a call stands
  const char* file;
  int line;
};
#define ACGAN_EMULATION_SITE ::acgan::emulation::Site site = {__builtin_FILE(), __builtin_LINE()}

enum class Schedule {
  InOrder,   // lowest thread first: the fastest, hides most races
  Reverse,   // highest thread first
  Uniform,   // any ready warp, any ready lane
  Priority,  // random warp priorities, redrawn at each barrier: some warps run far ahead
};

struct Settings {
  Schedule schedule = Schedule::Priority;
  std::uint64_t seed = 1;
  int arch = 800;  // the __CUDA_ARCH__ whose instructions are emulated
};
struct Counters {
  std::uint64_t blocks, threads, switches, barriers, collectives;
  std::uint64_t mma_flops, ldmatrix_matrices, ldmatrix_conflicts;
};
inline Settings settings;
inline Counters counters;

// Runs body(argument) in every thread of the grid. Throws Fault for an impossible launch, for
// misuse inside a kernel and for a deadlock, naming block and thread.
void run(dim3 grid, dim3 block, std::size_t dynamic_shared, void (*body)(void*), void* argument);
[[noreturn]] void fault(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Largest dynamic shared memory of a block on this architecture, bytes.
std::size_t shared_memory_limit(int arch);

// ---- inside a kernel
void barrier(Site site);                     // every thread that has not returned
bool barrier_or(bool predicate, Site site);  // and whether any of them says true
unsigned lane_id();
bool coin();  // a random bit of the schedule

// A warp collective: each lane named by `mask` brings its own operation; the lane that arrives last
// runs `function` over all of them, then everyone goes on. `fence`: orders memory between lanes.
using CollectiveFunction = void (*)(void** lane, unsigned mask);
void warp_collective(const char* name, unsigned mask, CollectiveFunction function, void* self,
                     bool fence);

// One heap block for each variable or slice (so that an address sanitizer sees its bounds), filled
// with 0xFF = NaN; the same for every thread of the block.
void* shared_slot(const void* key, std::size_t bytes, bool dynamic);
bool is_shared(const void* address);

struct AsyncQueue;
AsyncQueue& async_queue();  // of the running thread

}  // namespace acgan::emulation
