#include <vector>

#include "backend/host/host_backend.h"
#include "backend/host/host_values.h"

namespace acgan {
namespace {

void check_shapes(const Shape& x, const Shape& w, const Shape& y) {
  ACGAN_CHECK(x.rank() == 2 && w.rank() == 2 && y.rank() == 2);
  ACGAN_CHECK(x[0] == y[0] && x[1] == w[1] && y[1] == w[0]);
}

}  // namespace

void HostBackend::dense_forward(const Tensor& x, const Tensor& w, const Tensor& bias,
                                const Tensor& y) {
  check_shapes(x.shape, w.shape, y.shape);
  ACGAN_CHECK(x.dtype == w.dtype && (y.dtype == x.dtype || y.dtype == DType::F32));
  ACGAN_CHECK(!bias || bias.dtype == x.dtype);
  const auto rows = static_cast<std::size_t>(x.shape[0]);
  const auto in = static_cast<std::size_t>(x.shape[1]);
  const auto out = static_cast<std::size_t>(y.shape[1]);
  const std::vector<double> input = host::widen(x);
  const std::vector<double> weights = host::widen(w);
  const std::vector<double> offset = host::widen_or_zeros(bias, y.shape[1]);
  std::vector<double> output(rows * out);
  for (std::size_t n = 0; n < rows; ++n) {
    for (std::size_t o = 0; o < out; ++o) {
      double sum = offset[o];
      for (std::size_t i = 0; i < in; ++i) sum += input[n * in + i] * weights[o * in + i];
      output[n * out + o] = sum;
    }
  }
  host::store(y, output);
}

void HostBackend::dense_backward_data(const Tensor& dy, const Tensor& w, const Tensor& dx,
                                      Accumulation accumulation) {
  check_shapes(dx.shape, w.shape, dy.shape);
  ACGAN_CHECK(dy.dtype == w.dtype && dy.dtype == dx.dtype);
  const auto rows = static_cast<std::size_t>(dx.shape[0]);
  const auto in = static_cast<std::size_t>(dx.shape[1]);
  const auto out = static_cast<std::size_t>(dy.shape[1]);
  const std::vector<double> gradient = host::widen(dy);
  const std::vector<double> weights = host::widen(w);
  std::vector<double> result(rows * in, 0.0);
  for (std::size_t n = 0; n < rows; ++n) {
    for (std::size_t o = 0; o < out; ++o) {
      const double factor = gradient[n * out + o];
      for (std::size_t i = 0; i < in; ++i) result[n * in + i] += factor * weights[o * in + i];
    }
  }
  host::store(dx, result, accumulation);
}

void HostBackend::dense_backward_weight(const Tensor& x, const Tensor& dy, const Tensor& dw,
                                        Accumulation accumulation) {
  check_shapes(x.shape, dw.shape, dy.shape);
  ACGAN_CHECK(x.dtype == dy.dtype && dw.dtype == DType::F32);
  const auto rows = static_cast<std::size_t>(x.shape[0]);
  const auto in = static_cast<std::size_t>(x.shape[1]);
  const auto out = static_cast<std::size_t>(dy.shape[1]);
  const std::vector<double> input = host::widen(x);
  const std::vector<double> gradient = host::widen(dy);
  std::vector<double> result(out * in, 0.0);
  for (std::size_t n = 0; n < rows; ++n) {
    for (std::size_t o = 0; o < out; ++o) {
      const double factor = gradient[n * out + o];
      for (std::size_t i = 0; i < in; ++i) result[o * in + i] += factor * input[n * in + i];
    }
  }
  host::store(dw, result, accumulation);
}

void HostBackend::bias_backward(const Tensor& dy, const Tensor& db, Accumulation accumulation) {
  ACGAN_CHECK(dy.shape.rank() >= 1 && db.dtype == DType::F32);
  ACGAN_CHECK(db.shape == Shape{dy.shape.back()});
  const std::vector<double> gradient = host::widen(dy);
  std::vector<double> sums(static_cast<std::size_t>(db.count()), 0.0);
  for (std::size_t k = 0; k < gradient.size(); ++k) sums[k % sums.size()] += gradient[k];
  host::store(db, sums, accumulation);
}

}  // namespace acgan
