#include "backend/cuda_module.h"

#include "cuda/cuda_backend.h"
#include "cuda/probe.h"

// The one symbol that this shared object shows.
extern "C" __attribute__((visibility("default"))) const acgan::CudaModule acgan_cuda_module = {
    .open = [](const acgan::CudaRequest& request) -> std::unique_ptr<acgan::Backend> {
      return std::make_unique<acgan::cuda::CudaBackend>(request);
    },
    .list = acgan::cuda::list_devices,
};
