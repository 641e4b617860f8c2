#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "cuda/run_kernel.h"
#include "cuda/tile/mma.cuh"

// Misuse inside a kernel is a Fault that names block and thread; what follows is sound again.
namespace acgan::test {
namespace {

using emulation::Fault;
using emulation::Schedule;

constexpr unsigned kFullWarp = 0xffffffffu;

// Runs the kernel, which must be refused, and gives back why.
template <class... Parameters>
std::string fault_of(const LaunchShape& shape, void (*kernel)(Parameters...),
                     std::type_identity_t<Parameters>... arguments) {
  try {
    run_kernel(shape, kernel, arguments...);
  } catch (const Fault& fault) {
    return fault.what();
  }
  FAIL("the kernel was not refused");
  return {};
}

Catch::Matchers::StdString::RegexMatcher matches(const std::string& pattern) {
  return Catch::Matches("(.|\n)*" + pattern + "(.|\n)*");
}
// The end of every message about one thread.
Catch::Matchers::StdString::RegexMatcher names_thread(const std::string& block,
                                                      const std::string& thread) {
  return matches("\\[block \\(" + block + ",0,0\\) thread \\(" + thread + ",0,0\\)\\]");
}

void sum_kernel(const int* values, int* sum) {
  SHARED(int, total);
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, values[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) *sum = total;
}

void divergent_barrier_kernel() {
  if (threadIdx.x == 40) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

void missing_wait_kernel(const float* source) {
  cuda::SharedArena arena;
  float* const stage = arena.take<float>(4);
  if (threadIdx.x != 0) return;
  cuda::async_copy16(stage, source, true);
  cuda::async_commit();
}

enum class AsyncMisuse { Destination, Source, Space };

void async_copy_kernel(const float* source, float* global, AsyncMisuse misuse) {
  cuda::SharedArena arena;
  float* const stage = arena.take<float>(8);
  if (threadIdx.x != 3) return;
  const bool is_space = misuse == AsyncMisuse::Space;
  cuda::async_copy16(is_space ? global : stage + (misuse == AsyncMisuse::Destination ? 1 : 0),
                     source + (misuse == AsyncMisuse::Source ? 1 : 0), true);
}

void ldmatrix_kernel(const void* global, int offset) {
  cuda::SharedArena arena;
  auto* const stage = arena.take<unsigned char>(1024);
  std::uint32_t registers[4];
  const unsigned lane = threadIdx.x;
  cuda::ldmatrix_x4(registers, global != nullptr ? global : stage + lane * 16 + offset);
}

void shuffle_kernel(unsigned mask) { __shfl_xor_sync(mask, 1, 1); }

void shuffle_after_return_kernel() {
  __syncwarp();
  if (threadIdx.x >= 20) return;
  __shfl_xor_sync(kFullWarp, 1, 1);
}

void two_masks_kernel() { __shfl_xor_sync(threadIdx.x < 16 ? kFullWarp : 0xffff0000u, 1, 1); }

void two_collectives_kernel() {
  if (threadIdx.x < 16) {
    __syncwarp();
  } else {
    __ballot_sync(kFullWarp, 1);
  }
}

void deadlock_kernel() {
  if (threadIdx.x < 8) {
    __syncthreads();
  } else {
    __syncwarp();
  }
}

void greedy_kernel() {
  cuda::SharedArena arena;
  arena.take<float>(64);
  arena.take<float>(64);
}

void unequal_slices_kernel() {
  cuda::SharedArena arena;
  arena.take<float>(threadIdx.x == 5 ? 8 : 16);
}

void launching_kernel() { run_kernel({}, greedy_kernel); }

void unread_shared_kernel(float* value) {
  SHARED(float, never_written);
  if (threadIdx.x == 0) *value = never_written;
}

void count_or_kernel(const int* predicate, int* any) {
  any[threadIdx.x] = __syncthreads_or(predicate[threadIdx.x]);
}

}  // namespace

TEST_CASE("a divergent barrier is refused", "[cuda][machine]") {
  for (const auto schedule : {Schedule::InOrder, Schedule::Reverse, Schedule::Priority}) {
    const Setting chosen(emulation::settings.schedule, schedule);
    const std::string fault = fault_of({.threads = 64, .blocks = 2}, divergent_barrier_kernel);
    CHECK_THAT(fault, matches("divergent barrier: this thread is at .*test_machine.cpp:[0-9]+"));
    CHECK_THAT(fault, names_thread("[01]", "[0-9]+"));
  }
}

TEST_CASE("copies that nobody waits for are refused", "[cuda][machine]") {
  const Setting late(emulation::settings.schedule, Schedule::InOrder);  // none lands early
  alignas(16) const float source[4] = {};
  const std::string fault = fault_of({.dynamic_shared = 128}, missing_wait_kernel, source);
  CHECK_THAT(fault, matches("thread returned with 1 cp.async not waited for"));
  CHECK_THAT(fault, names_thread("0", "0"));
}

TEST_CASE("misplaced asynchronous copies are refused", "[cuda][machine]") {
  alignas(16) const float source[8] = {};
  alignas(16) float global[8] = {};
  const auto fault = [&](AsyncMisuse misuse) {
    return fault_of({.dynamic_shared = 128}, async_copy_kernel, source, global, misuse);
  };
  CHECK_THAT(fault(AsyncMisuse::Destination),
             matches("destination is not 16-byte aligned") && names_thread("0", "3"));
  CHECK_THAT(fault(AsyncMisuse::Source),
             matches("source is not 16-byte aligned") && names_thread("0", "3"));
  CHECK_THAT(fault(AsyncMisuse::Space),
             matches("destination is not in shared memory") && names_thread("0", "3"));
}

TEST_CASE("misplaced rows of ldmatrix are refused", "[cuda][machine]") {
  alignas(16) const char global[16] = {};
  CHECK_THAT(fault_of({.dynamic_shared = 1024}, ldmatrix_kernel, nullptr, 8),
             matches("ldmatrix: row is not 16-byte aligned") && names_thread("0", "[0-9]+"));
  CHECK_THAT(fault_of({.dynamic_shared = 1024}, ldmatrix_kernel, global, 0),
             matches("ldmatrix: row is not in shared memory") && names_thread("0", "[0-9]+"));
}

TEST_CASE("masks that name the wrong lanes are refused", "[cuda][machine]") {
  CHECK_THAT(fault_of({.threads = 16}, shuffle_kernel, kFullWarp),
             matches("shfl: mask ffffffff names lanes that have returned or do not exist") &&
                 names_thread("0", "[0-9]+"));
  CHECK_THAT(
      fault_of({}, shuffle_kernel, 0x7fffffffu),
      matches("shfl: the calling lane 31 is not in mask 7fffffff") && names_thread("0", "31"));
  CHECK_THAT(fault_of({}, shuffle_after_return_kernel),
             matches("(names lanes that have returned|deadlock in block)"));
  CHECK_THAT(fault_of({}, two_masks_kernel),
             matches("divergent warp: lane [0-9]+ is at shfl") && names_thread("0", "[0-9]+"));
  CHECK_THAT(
      fault_of({}, two_collectives_kernel),
      matches("divergent warp: lane [0-9]+ is at (syncwarp|vote)") && names_thread("0", "[0-9]+"));
}

TEST_CASE("a deadlock is reported thread by thread", "[cuda][machine]") {
  const std::string fault = fault_of({.threads = 64}, deadlock_kernel);
  CHECK_THAT(fault, matches("deadlock in block \\(0,0,0\\)"));
  CHECK_THAT(fault, matches("from thread 0: waits at the barrier of .*test_machine.cpp:[0-9]+"));
  CHECK_THAT(fault, matches("from thread 8: waits in syncwarp"));
  CHECK_THAT(fault, matches("from thread 32: returned"));
}

TEST_CASE("more shared memory than there is is refused", "[cuda][machine]") {
  CHECK_THAT(fault_of({.dynamic_shared = 300}, greedy_kernel),
             matches("dynamic shared memory: 512 bytes taken, 300 given at launch") &&
                 names_thread("0", "[0-9]+"));
  CHECK_THAT(
      fault_of({.dynamic_shared = 128}, unequal_slices_kernel),
      matches("threads disagree on the size of a shared variable") && names_thread("0", "[0-9]+"));
  for (const int arch : {600, 750, 800, 900}) {
    const Setting chosen(emulation::settings.arch, arch);
    const std::size_t limit = emulation::shared_memory_limit(arch);
    CHECK_NOTHROW(run_kernel({.dynamic_shared = limit}, greedy_kernel));
    CHECK_THAT(fault_of({.dynamic_shared = limit + 1}, greedy_kernel),
               matches("invalid launch: grid 1x1x1, 32 threads, " + std::to_string(limit + 1) +
                       " bytes of shared memory"));
  }
}

TEST_CASE("launches that no device takes are refused", "[cuda][machine]") {
  CHECK_THAT(fault_of({.threads = 1025}, greedy_kernel), matches("invalid launch"));
  CHECK_THAT(fault_of({.threads = 0}, greedy_kernel), matches("invalid launch"));
  CHECK_THAT(fault_of({.blocks = 0}, greedy_kernel), matches("invalid launch"));
}

TEST_CASE("a kernel cannot launch a kernel", "[cuda][machine]") {
  CHECK_THAT(fault_of({}, launching_kernel),
             matches("a kernel cannot launch a kernel") && names_thread("0", "[0-9]+"));
}

TEST_CASE("the machine is sound after a fault", "[cuda][machine]") {
  std::vector<int> values(96);
  int expected = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>(i * i);
    expected += values[i];
  }
  fault_of({.threads = 64}, deadlock_kernel);
  int sum = -1;
  run_kernel({.threads = 96}, sum_kernel, values.data(), &sum);
  CHECK(sum == expected);
}

TEST_CASE("shared memory starts as NaN", "[cuda][machine]") {
  float value = 0.0f;
  run_kernel({}, unread_shared_kernel, &value);
  CHECK(value != value);
}

TEST_CASE("a barrier tells every thread whether any said yes", "[cuda][machine]") {
  std::vector<int> predicate(80, 0), any(80, -1);
  run_kernel({.threads = 80}, count_or_kernel, predicate.data(), any.data());
  CHECK(any == std::vector<int>(80, 0));
  predicate[67] = 1;
  run_kernel({.threads = 80}, count_or_kernel, predicate.data(), any.data());
  CHECK(any == std::vector<int>(80, 1));
}

TEST_CASE("the same seed gives the same order", "[cuda][machine]") {
  const auto switches = [](std::uint64_t seed) {
    const Setting chosen(emulation::settings.seed, seed);
    const std::uint64_t before = emulation::counters.switches;
    std::vector<int> values(96, 1);
    int sum = 0;
    run_kernel({.threads = 96}, sum_kernel, values.data(), &sum);
    return emulation::counters.switches - before;
  };
  CHECK(switches(3) == switches(3));
}

}  // namespace acgan::test
