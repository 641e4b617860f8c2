#include <cuda_runtime_api.h>

#include "base/error.h"
#include "cuda/probe.h"

namespace acgan::cuda {
namespace {

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string why_none(cudaError_t error) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);  // both succeed without a driver
  cudaRuntimeGetVersion(&runtime);
  if (error == cudaErrorInsufficientDriver && driver == 0) {
    return "no NVIDIA driver is installed (libcuda.so.1 was not found)";
  }
  if (error == cudaErrorInsufficientDriver) {
    return fmt::format(
        "the NVIDIA driver supports CUDA {}, this program needs {}: update the driver",
        version_text(driver), version_text(runtime));
  }
  if (error == cudaErrorNoDevice || error == cudaSuccess) return "the NVIDIA driver sees no GPU";
  return fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
}

}  // namespace

Probe probe_devices() {
  Probe probe;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);  // leaves the count alone on failure
  if (error != cudaSuccess || count == 0) {
    cudaGetLastError();
    probe.why_none = why_none(error);
    return probe;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp found{};
    if (cudaGetDeviceProperties(&found, ordinal) != cudaSuccess) continue;
    probe.devices.push_back({.name = found.name,
                             .arch = found.major * 10 + found.minor,
                             .memory_bytes = found.totalGlobalMem,
                             .multiprocessors = found.multiProcessorCount});
  }
  return probe;
}

std::string list_devices() {
  const Probe probe = probe_devices();
  if (probe.devices.empty()) return "cuda    not available: " + probe.why_none + "\n";
  std::string list;
  for (std::size_t i = 0; i < probe.devices.size(); ++i) {
    const FoundDevice& device = probe.devices[i];
    list +=
        fmt::format("cuda:{}  {}, compute capability {}.{}, {} MiB, {} multiprocessors; {}\n", i,
                    device.name, device.arch / 10, device.arch % 10, device.memory_bytes >> 20,
                    device.multiprocessors, tensor_core_text(device.arch));
  }
  return list;
}

}  // namespace acgan::cuda
