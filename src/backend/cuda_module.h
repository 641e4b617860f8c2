#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"

namespace acgan {

// Who computes convolutions on a GPU: our kernels or NVIDIA's library. Auto: our kernels in 16
// bits, cuDNN in fp32 where it is there, else our kernels too. The others hold for both precisions.
enum class ConvLibrary { Auto, Handwritten, Cudnn };

struct CudaRequest {
  int ordinal = 0;  // number of the GPU; of the emulated device: its architecture, 0 means 80
  ConvLibrary conv = ConvLibrary::Auto;
  bool allow_tf32 = false;
};

// What the separately loaded CUDA module offers. The program itself is linked to no CUDA library,
// so it starts on any machine; open_backend loads the module when a GPU is asked for.
struct CudaModule {
  // Throws Error{Device} where the device cannot be had, saying why.
  std::unique_ptr<Backend> (*open)(const CudaRequest& request);
  // One line for each GPU, or one that says why there is none.
  std::string (*list)();
};

// Name of the module's one exported symbol, a CudaModule.
inline constexpr const char* kCudaModuleSymbol = "acgan_cuda_module";

enum class CudaModuleKind { Gpu, Emulated };

// Throws Error{Device} where the module is not there or lacks a library, saying which.
const CudaModule& load_cuda_module(CudaModuleKind kind);

}  // namespace acgan
