#include "backend/cuda_module.h"

#include <dlfcn.h>

#include "base/error.h"

namespace acgan {

namespace {

// The driver's library alone says whether looking further can help: the module brings cuBLAS, which
// takes a while to load.
void check_driver() {
  if (void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) {
    dlclose(driver);
    return;
  }
  fail(ErrorKind::Device,
       "CUDA cannot be used: no NVIDIA driver is installed (libcuda.so.1 was not found)");
}

}  // namespace

const CudaModule& load_cuda_module(CudaModuleKind kind) {
  if (kind == CudaModuleKind::Gpu) check_driver();
  const char* const file =
      kind == CudaModuleKind::Gpu ? "libacgan_cuda.so" : "libacgan_cuda_emulated.so";
  // Never closed: objects made by the module live as long as the program.
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string why = dlerror();
    const bool missing = why.find(std::string(file) + ": cannot open") != std::string::npos;
    if (missing) {
      fail(ErrorKind::Device,
           "CUDA cannot be used: this program was built without the CUDA toolkit ({} is "
           "not "
           "there); build it where nvcc is found, or use device 'cpu'",
           file);
    }
    fail(ErrorKind::Device, "the CUDA module {} cannot be loaded: {}", file, why);
  }
  void* symbol = dlsym(library, kCudaModuleSymbol);
  if (symbol == nullptr) {
    fail(ErrorKind::Device, "{} is not a CUDA module of this program", file);
  }
  return *static_cast<const CudaModule*>(symbol);
}

}  // namespace acgan
