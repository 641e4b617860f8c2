#include "backend/open_backend.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda_module.h"
#include "backend/host/host_backend.h"
#include "backend/onednn/onednn_backend.h"
#include "base/error.h"

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

// The number behind "cuda" or "cuda:N" and the like; nothing where `device` is not `kind`.
std::optional<int> ordinal_of(std::string_view device, std::string_view kind) {
  if (device == kind) return 0;
  if (!device.starts_with(kind) || device.substr(kind.size(), 1) != ":") return std::nullopt;
  const std::string_view digits = device.substr(kind.size() + 1);
  int ordinal = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), ordinal);
  if (error != std::errc{} || end != digits.end() || ordinal < 0) return std::nullopt;
  return ordinal;
}

std::unique_ptr<Backend> open_cpu(const std::string& device, int threads) {
  if (device == "host") return std::make_unique<HostBackend>();
  if (device == "packed") return std::make_unique<CpuBackend>(threads);
  if (device == "onednn") return std::make_unique<OneDnnBackend>(threads);
  if (device != "cpu") return nullptr;
  if (processor_suits_onednn()) return std::make_unique<OneDnnBackend>(threads);
  return std::make_unique<CpuBackend>(threads);
}

}  // namespace

OpenedBackend open_backend(const BackendRequest& request) {
  const std::string& device = request.device;
  if (request.threads < 0) {
    fail(ErrorKind::Usage, "threads: expected 0 (all) or a positive number, found {}",
         request.threads);
  }
  if (auto backend = open_cpu(device, request.threads)) return {std::move(backend), {}};
  CudaRequest cuda{.conv = request.conv, .allow_tf32 = request.allow_tf32};
  if (const auto ordinal = ordinal_of(device, "cuda")) {
    cuda.ordinal = *ordinal;
    return {load_cuda_module(CudaModuleKind::Gpu).open(cuda), {}};
  }
  if (const auto arch = ordinal_of(device, "emulated")) {
    cuda.ordinal = *arch;
    return {load_cuda_module(CudaModuleKind::Emulated).open(cuda), {}};
  }
  if (device != "auto") {
    fail(ErrorKind::Usage,
         "device: expected auto, cpu, onednn, packed, host, cuda or cuda:N, found '{}'", device);
  }
  try {
    return {load_cuda_module(CudaModuleKind::Gpu).open(cuda), {}};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Device) throw;
    return {open_cpu("cpu", request.threads), error.what()};
  }
}

std::unique_ptr<Backend> open_backend(const std::string& device, int threads) {
  return open_backend(BackendRequest{.device = device, .threads = threads}).backend;
}

std::string list_devices() {
  std::string list = fmt::format("cpu     {}\n", open_cpu("cpu", 0)->description());
  try {
    list += load_cuda_module(CudaModuleKind::Gpu).list();
  } catch (const Error& error) {
    list += fmt::format("cuda    not available: {}\n", error.what());
  }
  return list;
}

}  // namespace acgan
