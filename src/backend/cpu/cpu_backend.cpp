#include "backend/cpu/cpu_backend.h"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "backend/cpu/parallel.h"
#include "base/error.h"

namespace acgan {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Linux gives out more memory than there is and kills the process that then uses it: look first.
void check_available(std::size_t bytes) {
  constexpr std::size_t kSmall = std::size_t{64} << 20;
  if (bytes < kSmall) return;
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    std::size_t kib = 0;
    if (name == "MemAvailable:" && file >> kib && bytes / 1024 > kib) {
      fail(
          ErrorKind::Device,
          "out of memory: {} MiB more are needed and {} MiB are free; use a smaller batch or model",
          bytes >> 20, kib >> 10);
    }
  }
}

}  // namespace

CpuBackend::CpuBackend(int threads) : threads_(threads) {
  ACGAN_CHECK(threads >= 0);
  if (threads_ == 0) threads_ = omp_get_num_procs();  // respects the process's affinity
  omp_set_num_threads(threads_);
}

std::string CpuBackend::description() const {
  return fmt::format(
      "cpu, {} thread{}, {}; fp16 and bf16 are storage only: values are widened to float for "
      "arithmetic",
      threads_, threads_ == 1 ? "" : "s", cpu::kInstructionSet);
}

void* CpuBackend::allocate(std::size_t bytes) {
  check_available(bytes);
  const std::size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kAlignment;
  const std::size_t rounded = (std::max(bytes, std::size_t{1}) + alignment - 1) & ~(alignment - 1);
  void* memory = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) {
    fail(ErrorKind::Device, "the CPU backend could not get {} MiB of memory, use a smaller batch",
         bytes >> 20);
  }
  // Advice only: without huge pages everything works as well, more slowly.
  if (alignment == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
  zero({memory, Shape{static_cast<std::int64_t>(rounded)}, DType::U8});
  return memory;
}

void CpuBackend::release(void* memory) noexcept { std::free(memory); }

}  // namespace acgan
