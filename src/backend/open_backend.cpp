#include "backend/open_backend.h"

#include <string_view>

#include "backend/cpu/cpu_backend.h"
#include "backend/host/host_backend.h"
#include "backend/onednn/onednn_backend.h"

namespace acgan {
namespace {

// oneDNN's convolutions for AVX-512 and AMX are ahead of our own loops; with AVX2 ours are.
bool processor_suits_onednn() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

bool names_cuda(std::string_view device) {
  if (device == "cuda") return true;
  constexpr std::string_view kPrefix = "cuda:";
  if (!device.starts_with(kPrefix) || device.size() == kPrefix.size()) return false;
  return device.find_first_not_of("0123456789", kPrefix.size()) == std::string_view::npos;
}

}  // namespace

std::unique_ptr<Backend> open_backend(const std::string& device, int threads) {
  if (threads < 0) {
    fail(ErrorKind::Usage, "threads: expected 0 (all) or a positive number, found {}", threads);
  }
  if (device == "host") return std::make_unique<HostBackend>();
  if (device == "packed") return std::make_unique<CpuBackend>(threads);
  if (device == "onednn") return std::make_unique<OneDnnBackend>(threads);
  if (device == "cpu") {
    if (processor_suits_onednn()) return std::make_unique<OneDnnBackend>(threads);
    return std::make_unique<CpuBackend>(threads);
  }
  if (names_cuda(device)) {
    fail(ErrorKind::Device,
         "device '{}' cannot be used: this build has no CUDA backend; use device 'cpu'", device);
  }
  fail(ErrorKind::Usage, "device: expected cpu, onednn, packed, host, cuda or cuda:N, found '{}'",
       device);
}

}  // namespace acgan
