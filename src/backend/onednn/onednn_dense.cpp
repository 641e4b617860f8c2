#include "backend/onednn/onednn_backend.h"
#include "backend/onednn/onednn_library.h"

namespace acgan {
namespace {

using Dims = dnnl::memory::dims;

dnnl::memory::desc matrix(std::int64_t rows, std::int64_t columns, DType type,
                          const Dims& strides) {
  return {{rows, columns}, onednn_type(type), strides};
}

// Elements between the rows of the copy of w [out,in] that a data gradient reads. The matrix
// product walks down the columns of w; where rows are a multiple of a page apart, all of a column
// falls into the same cache sets and it runs at half speed (avx2; 1024 -> 6272: 80 against 150
// GFLOP/s, and the copy takes a third of what it saves). Large batches are packed by oneDNN itself;
// small ones do not repay the copy.
std::int64_t row_stride_for_backward_data(const OneDnnKey& key) {
  constexpr std::int64_t kPage = 4096;
  constexpr std::int64_t kCacheLine = 64;
  const std::int64_t in = key.geometry.in_c;
  const std::int64_t size = static_cast<std::int64_t>(size_of(key.inputs));
  const bool collides = in * size % kPage == 0 && key.geometry.out_c >= 64;
  const bool repays = key.batch >= 32 && key.batch < 1024;
  return collides && repays ? in + kCacheLine / size : in;
}

// All three are C [M,N] = A [M,K] B [K,N]; transposition is a matter of strides.
struct MatrixProduct {
  dnnl::memory::desc a, b, c;
};

MatrixProduct describe(const OneDnnKey& key, OneDnnPrimitive& result) {
  const std::int64_t n = key.batch;
  const std::int64_t in = key.geometry.in_c;
  const std::int64_t out = key.geometry.out_c;
  if (key.operation == OneDnnOperation::DenseForward) {
    result.x = matrix(n, in, key.inputs, {in, 1});
    result.weights = matrix(in, out, key.inputs, {1, in});
    result.plain_weights = result.weights;
    result.y = matrix(n, out, key.output, {out, 1});
    return {result.x, result.weights, result.y};
  }
  if (key.operation == OneDnnOperation::DenseBackwardData) {
    result.y = matrix(n, out, key.inputs, {out, 1});
    result.weights = matrix(out, in, key.inputs, {row_stride_for_backward_data(key), 1});
    result.plain_weights = matrix(out, in, key.inputs, {in, 1});
    result.x = matrix(n, in, key.output, {in, 1});
    return {result.y, result.weights, result.x};
  }
  result.y = matrix(out, n, key.inputs, {1, out});
  result.x = matrix(n, in, key.inputs, {in, 1});
  result.weights = matrix(out, in, key.output, {in, 1});
  result.plain_weights = result.weights;
  return {result.y, result.x, result.weights};
}

// Dense layers take activations of any rank: [N, ...] is [N, in].
void check_shapes(const Tensor& x, const Tensor& w, const Tensor& y) {
  ACGAN_CHECK(x && w && y && w.shape.rank() == 2);
  ACGAN_CHECK(x.rows() == y.rows());
  ACGAN_CHECK(x.row_size() == w.shape[1] && y.row_size() == w.shape[0]);
}

bool multiplies(const Tensor& a, const Tensor& b, const Tensor& result) {
  return onednn_computes_in(a.dtype) && a.dtype == b.dtype &&
         (result.dtype == a.dtype || result.dtype == DType::F32);
}

OneDnnKey dense_key(OneDnnOperation operation, const Tensor& x, const Tensor& w) {
  OneDnnKey key;
  key.operation = operation;
  key.geometry.in_c = w.shape[1];
  key.geometry.out_c = w.shape[0];
  key.batch = x.rows();
  return key;
}

}  // namespace

OneDnnPrimitive build_dense(const dnnl::engine& engine, const OneDnnKey& key) {
  OneDnnPrimitive result;
  const MatrixProduct product = describe(key, result);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (key.accumulation == Accumulation::Add) {
    dnnl::post_ops operations;
    operations.append_sum(1.0f);
    attributes.set_post_ops(operations);
  }
  if (key.bias) result.bias = matrix(1, key.geometry.out_c, *key.bias, {key.geometry.out_c, 1});
  const dnnl::matmul::desc description(product.a, product.b, result.bias, product.c);
  compile<dnnl::matmul>(dnnl::matmul::primitive_desc(description, attributes, engine), result);
  return result;
}

void OneDnnBackend::dense_forward(const Tensor& x, const Tensor& w, const Tensor& bias,
                                  const Tensor& y) {
  check_shapes(x, w, y);
  ACGAN_CHECK(!bias || bias.count() == y.row_size());
  if (multiplies(x, w, y) && (!bias || onednn_computes_in(bias.dtype))) {
    OneDnnKey key = dense_key(OneDnnOperation::DenseForward, x, w);
    key.inputs = x.dtype;
    key.output = y.dtype;
    if (bias) key.bias = bias.dtype;
    if (const OneDnnPrimitive& p = library_->find(key)) {
      library_->execute(p, {{DNNL_ARG_SRC, &p.x, x.data},
                            {DNNL_ARG_WEIGHTS, &p.weights, library_->weights_for(p, w)},
                            {DNNL_ARG_BIAS, &p.bias, bias.data},
                            {DNNL_ARG_DST, &p.y, y.data}});
      return;
    }
  }
  CpuBackend::dense_forward(x, w, bias, y);
}

void OneDnnBackend::dense_backward_data(const Tensor& dy, const Tensor& w, const Tensor& dx,
                                        Accumulation accumulation) {
  check_shapes(dx, w, dy);
  if (multiplies(dy, w, dx)) {
    OneDnnKey key = dense_key(OneDnnOperation::DenseBackwardData, dx, w);
    key.inputs = dy.dtype;
    key.output = dx.dtype;
    key.accumulation = accumulation;
    if (const OneDnnPrimitive& p = library_->find(key)) {
      library_->execute(p, {{DNNL_ARG_SRC, &p.y, dy.data},
                            {DNNL_ARG_WEIGHTS, &p.weights, library_->weights_for(p, w)},
                            {DNNL_ARG_DST, &p.x, dx.data}});
      return;
    }
  }
  CpuBackend::dense_backward_data(dy, w, dx, accumulation);
}

void OneDnnBackend::dense_backward_weight(const Tensor& x, const Tensor& dy, const Tensor& dw,
                                          Accumulation accumulation) {
  check_shapes(x, dw, dy);
  if (multiplies(x, dy, dw) && dw.dtype == DType::F32) {
    OneDnnKey key = dense_key(OneDnnOperation::DenseBackwardWeight, x, dw);
    key.inputs = x.dtype;
    key.output = dw.dtype;
    key.accumulation = accumulation;
    if (const OneDnnPrimitive& p = library_->find(key)) {
      library_->execute(p, {{DNNL_ARG_SRC, &p.y, dy.data},
                            {DNNL_ARG_WEIGHTS, &p.x, x.data},
                            {DNNL_ARG_DST, &p.weights, dw.data}});
      return;
    }
  }
  CpuBackend::dense_backward_weight(x, dy, dw, accumulation);
}

}  // namespace acgan
