#include "backend/onednn/onednn_backend.h"

#include <string_view>

#include "backend/onednn/onednn_library.h"
#include "base/error.h"

namespace acgan {
namespace {

std::string_view instruction_set() {
  using dnnl::cpu_isa;
  switch (dnnl::get_effective_cpu_isa()) {
    case cpu_isa::sse41:
      return "SSE4.1";
    case cpu_isa::avx:
      return "AVX";
    case cpu_isa::avx2:
      return "AVX2";
    case cpu_isa::avx2_vnni:
      return "AVX2 with VNNI";
    case cpu_isa::avx512_core:
      return "AVX-512";
    case cpu_isa::avx512_core_vnni:
      return "AVX-512 with VNNI";
    case cpu_isa::avx512_core_bf16:
      return "AVX-512 with BF16";
    case cpu_isa::avx512_core_amx:
      return "AVX-512 with AMX";
    default:
      return "an instruction set without a name here";
  }
}

}  // namespace

OneDnnBackend::OneDnnBackend(int threads)
    : CpuBackend(threads), library_(std::make_unique<OneDnnLibrary>(CpuBackend::threads())) {}

OneDnnBackend::~OneDnnBackend() = default;

std::string OneDnnBackend::description() const {
  const dnnl_version_t* const version = dnnl::version();
  const std::string_view half =
      computes_in(DType::BF16)
          ? "bf16 is computed by the processor, fp16 is storage only"
          : "bf16 and fp16 are storage only (no 16-bit arithmetic on this processor)";
  return fmt::format("cpu, {} {}, {}, oneDNN {}.{}.{}; {}", threads(),
                     threads() == 1 ? "thread" : "threads", instruction_set(), version->major,
                     version->minor, version->patch, half);
}

bool OneDnnBackend::computes_in(DType type) const { return onednn_computes_in(type); }

std::vector<std::string> OneDnnBackend::implementations() const {
  return library_->implementations();
}

// Other weights may come to lie where the released ones were.
void OneDnnBackend::release(void* memory) noexcept {
  library_->forget_weights();
  CpuBackend::release(memory);
}

void OneDnnBackend::weights_updated(const Tensor& w) { library_->weights_updated(w); }

}  // namespace acgan
