#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/gemm_sink.h"
#include "backend/cpu/gemm_source.h"
#include "backend/cpu/widened_bias.h"

namespace acgan {
namespace {

using gemm::SourceRows;

void check_dense(const Tensor& x, const Tensor& w, const Tensor& y) {
  ACGAN_CHECK(w.shape.rank() == 2 && x.rows() == y.rows());
  ACGAN_CHECK(x.row_size() == w.shape[1] || x.rows() == 0);
  ACGAN_CHECK(y.row_size() == w.shape[0] || y.rows() == 0);
}

}  // namespace

// The product is y^T = w x^T: rows of w are packed by whole vectors as they lie, and only the
// smaller x is transposed.
void CpuBackend::dense_forward(const Tensor& x, const Tensor& w, const Tensor& bias,
                               const Tensor& y) {
  check_dense(x, w, y);
  ACGAN_CHECK(x.dtype == w.dtype && (!bias || bias.count() == w.shape[0]));
  const std::int64_t in = w.shape[1];
  const std::int64_t out = w.shape[0];
  const gemm::WidenedBias widened(bias);
  visit_dtype(w.dtype, [&]<typename T>(T) {
    visit_dtype(y.dtype, [&]<typename Result>(Result) {
      const gemm::PlainSource<T> weights(w.as<T>(), in);
      const gemm::PlainSource<T> inputs(x.as<T>(), in);
      const gemm::TransposedSink<Result> sink(y.as<Result>(), out, {.bias = widened.data()});
      gemm_.multiply({.rows = out,
                      .columns = x.rows(),
                      .depth = in,
                      .left = {&weights, SourceRows::Outer},
                      .right = {&inputs, SourceRows::Outer},
                      .sink = &sink},
                     threads());
    });
  });
}

void CpuBackend::dense_backward_data(const Tensor& dy, const Tensor& w, const Tensor& dx,
                                     Accumulation accumulation) {
  check_dense(dx, w, dy);
  ACGAN_CHECK(dy.dtype == w.dtype && dx.dtype == w.dtype);
  const std::int64_t in = w.shape[1];
  const std::int64_t out = w.shape[0];
  visit_dtype(w.dtype, [&]<typename T>(T) {
    const gemm::PlainSource<T> gradients(dy.as<T>(), out);
    const gemm::PlainSource<T> weights(w.as<T>(), in);
    const gemm::MatrixSink<T> sink(dx.as<T>(), in, {.accumulation = accumulation});
    gemm_.multiply({.rows = dy.rows(),
                    .columns = in,
                    .depth = out,
                    .left = {&gradients, SourceRows::Outer},
                    .right = {&weights, SourceRows::Depth},
                    .sink = &sink},
                   threads());
  });
}

void CpuBackend::dense_backward_weight(const Tensor& x, const Tensor& dy, const Tensor& dw,
                                       Accumulation accumulation) {
  check_dense(x, dw, dy);
  ACGAN_CHECK(x.dtype == dy.dtype && dw.dtype == DType::F32);
  const std::int64_t in = dw.shape[1];
  const std::int64_t out = dw.shape[0];
  visit_dtype(x.dtype, [&]<typename T>(T) {
    const gemm::PlainSource<T> gradients(dy.as<T>(), out);
    const gemm::PlainSource<T> inputs(x.as<T>(), in);
    gemm_.multiply({.rows = out,
                    .columns = in,
                    .depth = x.rows(),
                    .left = {&gradients, SourceRows::Depth},
                    .right = {&inputs, SourceRows::Depth},
                    .output = dw.as<float>(),
                    .accumulation = accumulation},
                   threads());
  });
}

}  // namespace acgan
