#include <cublas_v2.h>

#include "base/error.h"
#include "cuda/library/matrix_product.h"

namespace acgan::cuda {
namespace {

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(ErrorKind::Device, "cuBLAS failed while {}: {}", what, cublasGetStatusString(status));
}

cudaDataType_t cuda_type(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return CUDA_R_32F;
    case DType::F16:
      return CUDA_R_16F;
    case DType::BF16:
      return CUDA_R_16BF;
    default:
      ACGAN_CHECK(!"floating-point dtype");
  }
  return CUDA_R_32F;
}

class CublasMatrixLibrary final : public MatrixLibrary {
 public:
  CublasMatrixLibrary(Device& device, Tf32 tf32) : device_(device), tf32_(tf32) {
    check(cublasCreate(&handle_), "starting");
    check(cublasSetStream(handle_, device.stream()), "starting");
    // A workspace of our own: no allocation inside a captured graph, the same algorithm every time.
    workspace_ = device.allocate(kWorkspaceBytes);
    check(cublasSetWorkspace(handle_, workspace_, kWorkspaceBytes), "starting");
  }
  ~CublasMatrixLibrary() override {
    cublasDestroy(handle_);
    device_.release(workspace_);
  }
  CublasMatrixLibrary(const CublasMatrixLibrary&) = delete;
  CublasMatrixLibrary& operator=(const CublasMatrixLibrary&) = delete;

  std::string name() const override { return fmt::format("cuBLAS {}", CUBLAS_VER_MAJOR); }

  std::size_t workspace_bytes() const override { return kWorkspaceBytes; }

  // cuBLAS counts columns first: a row-major c = op(a) op(b) is its c^T = op(b)^T op(a)^T.
  void multiply(const MatrixProduct& p) override {
    const auto rows = static_cast<int>(p.c.shape[0]), columns = static_cast<int>(p.c.shape[1]);
    const auto depth = static_cast<int>(p.a_layout == Layout::Plain ? p.a.shape[1] : p.a.shape[0]);
    const float one = 1.0f, beta = p.accumulation == Accumulation::Add ? 1.0f : 0.0f;
    const bool fast = p.a.dtype == DType::F32 && tf32_ == Tf32::Allowed;
    check(
        cublasGemmEx(handle_, operation(p.b_layout), operation(p.a_layout), columns, rows, depth,
                     &one, p.b.data, cuda_type(p.b.dtype), static_cast<int>(p.b.shape[1]), p.a.data,
                     cuda_type(p.a.dtype), static_cast<int>(p.a.shape[1]), &beta, p.c.data,
                     cuda_type(p.c.dtype), columns,
                     fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "multiplying");
  }

 private:
  static constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

  static cublasOperation_t operation(Layout layout) {
    return layout == Layout::Plain ? CUBLAS_OP_N : CUBLAS_OP_T;
  }

  Device& device_;
  Tf32 tf32_;
  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
};

}  // namespace

std::unique_ptr<MatrixLibrary> open_matrix_library(Device& device, Tf32 tf32) {
  return std::make_unique<CublasMatrixLibrary>(device, tf32);
}

}  // namespace acgan::cuda
