#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"
#include "backend/cuda_module.h"

namespace acgan {

// Which device, and how it shall compute.
struct BackendRequest {
  // "cpu": what is fastest on this processor, "onednn" where it has AVX-512, else "packed";
  // "onednn" and "packed": that one; "host": plain loops, the meaning of every operation, slow;
  // "cuda" or "cuda:N": that GPU; "auto": the first GPU, else the CPU; "emulated" or "emulated:N":
  // our CUDA kernels on the CPU as for compute capability N (75, 80, ...), for tests, where it was
  // built.
  std::string device = "auto";
  int threads = 0;  // of the CPU; 0: all that the process may use
  // Of a GPU or the emulated device; no effect on a CPU.
  ConvLibrary conv = ConvLibrary::Auto;
  bool allow_tf32 = false;
};

struct OpenedBackend {
  std::unique_ptr<Backend> backend;
  std::string why_not_cuda;  // why "auto" passed over CUDA; empty where it did not
};

// Throws Error{Device} where the device cannot be had, saying why; a device that was named never
// falls back to another.
OpenedBackend open_backend(const BackendRequest& request);
std::unique_ptr<Backend> open_backend(const std::string& device, int threads);

// One line for each device, or why there is none of its kind.
std::string list_devices();

}  // namespace acgan
