#include "cuda/emulation/emulated_stream.h"
#include "cuda/library/matrix_product.h"

namespace acgan::cuda {
namespace {

// Element (row, column) of op(matrix) in float.
template <typename T>
float element(const Tensor& matrix, Layout layout, std::int64_t row, std::int64_t column) {
  const std::int64_t stride = matrix.shape[1];
  const auto* values = static_cast<const T*>(matrix.data);
  return to_float(layout == Layout::Plain ? values[row * stride + column]
                                          : values[column * stride + row]);
}

template <typename In, typename Out>
void multiply_values(const MatrixProduct& p) {
  const std::int64_t rows = p.c.shape[0], columns = p.c.shape[1];
  const std::int64_t depth = p.a_layout == Layout::Plain ? p.a.shape[1] : p.a.shape[0];
  auto* c = static_cast<Out*>(p.c.data);
  std::vector<float> b(static_cast<std::size_t>(depth * columns));  // op(b), row-major
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t j = 0; j < columns; ++j) {
      b[static_cast<std::size_t>(k * columns + j)] = element<In>(p.b, p.b_layout, k, j);
    }
  }
  std::vector<float> sums(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (std::int64_t k = 0; k < depth; ++k) {
      const float a = element<In>(p.a, p.a_layout, i, k);
      const float* row = &b[static_cast<std::size_t>(k * columns)];
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += a * row[j];
    }
    for (std::size_t j = 0; j < sums.size(); ++j) {
      Out& stored = c[i * columns + static_cast<std::int64_t>(j)];
      const float before = p.accumulation == Accumulation::Add ? to_float(stored) : 0.0f;
      stored = from_float<Out>(before + sums[j]);
    }
  }
}

class EmulatedMatrixLibrary final : public MatrixLibrary {
 public:
  explicit EmulatedMatrixLibrary(Device& device) : device_(device) {}

  std::string name() const override { return "loops in place of cuBLAS"; }

  std::size_t workspace_bytes() const override { return 0; }

  void multiply(const MatrixProduct& product) override {
    emulation::enqueue(device_.stream(), [product] {
      visit_dtype(product.a.dtype, [&]<typename In>(In) {
        if (product.c.dtype == DType::F32) {
          multiply_values<In, float>(product);
        } else {
          multiply_values<In, In>(product);
        }
      });
    });
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<MatrixLibrary> open_matrix_library(Device& device, Tf32) {
  return std::make_unique<EmulatedMatrixLibrary>(device);
}

}  // namespace acgan::cuda
