#include <vector>

#include "backend/host/host_backend.h"
#include "backend/host/host_values.h"

namespace acgan {
namespace {

// Offsets of single elements in the arrays of one convolution.
struct ConvIndex {
  const ConvGeometry& g;

  std::size_t x(std::int64_t n, std::int64_t h, std::int64_t w) const {
    return static_cast<std::size_t>(((n * g.in_h + h) * g.in_w + w) * g.in_c);
  }
  std::size_t y(std::int64_t n, std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(((n * g.out_h + i) * g.out_w + j) * g.out_c);
  }
  std::size_t w(std::int64_t o, std::int64_t r, std::int64_t s) const {
    return static_cast<std::size_t>(((o * g.kernel + r) * g.kernel + s) * g.in_c);
  }
};

// Calls visit(n, i, j, r, s, h, w) for every output pixel (i, j) of image n and every kernel tap
// (r, s) that meets an input pixel (h, w); taps outside the image meet zeros and are left out.
template <typename Visitor>
void for_each_tap(const ConvGeometry& g, std::int64_t images, const Visitor& visit) {
  for (std::int64_t n = 0; n < images; ++n) {
    for (std::int64_t i = 0; i < g.out_h; ++i) {
      for (std::int64_t j = 0; j < g.out_w; ++j) {
        for (std::int64_t r = 0; r < g.kernel; ++r) {
          const std::int64_t h = i * g.stride + r - g.pad;
          if (h < 0 || h >= g.in_h) continue;
          for (std::int64_t s = 0; s < g.kernel; ++s) {
            const std::int64_t w = j * g.stride + s - g.pad;
            if (w < 0 || w >= g.in_w) continue;
            visit(n, i, j, r, s, h, w);
          }
        }
      }
    }
  }
}

void check_shapes(const ConvGeometry& g, const Shape& x, const Shape& w, const Shape& y) {
  ACGAN_CHECK(g.kernel > 0 && g.stride > 0 && g.pad >= 0);
  ACGAN_CHECK(g.in_h + 2 * g.pad >= g.kernel && g.in_w + 2 * g.pad >= g.kernel);
  ACGAN_CHECK(g.out_h == (g.in_h + 2 * g.pad - g.kernel) / g.stride + 1);
  ACGAN_CHECK(g.out_w == (g.in_w + 2 * g.pad - g.kernel) / g.stride + 1);
  ACGAN_CHECK(x.rank() == 4 && y.rank() == 4 && x[0] == y[0]);
  ACGAN_CHECK(x == (Shape{x[0], g.in_h, g.in_w, g.in_c}));
  ACGAN_CHECK(y == (Shape{x[0], g.out_h, g.out_w, g.out_c}));
  ACGAN_CHECK(w == (Shape{g.out_c, g.kernel, g.kernel, g.in_c}));
}

// Every row of `values` (length of `bias`) starts as the bias.
std::vector<double> rows_of_bias(const std::vector<double>& bias, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = bias[k % bias.size()];
  return values;
}

}  // namespace

void HostBackend::conv2d_forward(const ConvGeometry& geometry, const Tensor& x, const Tensor& w,
                                 const Tensor& bias, Activation activation, const Tensor& y) {
  check_shapes(geometry, x.shape, w.shape, y.shape);
  ACGAN_CHECK(x.dtype == w.dtype && x.dtype == y.dtype && (!bias || bias.dtype == x.dtype));
  const ConvIndex at{geometry};
  const std::vector<double> input = host::widen(x);
  const std::vector<double> weights = host::widen(w);
  std::vector<double> output = rows_of_bias(host::widen_or_zeros(bias, geometry.out_c), y.count());

  for_each_tap(geometry, x.rows(), [&](auto n, auto i, auto j, auto r, auto s, auto h, auto v) {
    const double* pixel = &input[at.x(n, h, v)];
    double* sums = &output[at.y(n, i, j)];
    for (std::int64_t o = 0; o < geometry.out_c; ++o) {
      const double* taps = &weights[at.w(o, r, s)];
      for (std::int64_t c = 0; c < geometry.in_c; ++c) sums[o] += pixel[c] * taps[c];
    }
  });
  for (double& value : output) value = host::activate(value, activation);
  host::store(y, output);
}

void HostBackend::conv2d_backward_data(const ConvGeometry& geometry, const Tensor& dy,
                                       const Tensor& w, const Tensor& bias, const Tensor& dx) {
  check_shapes(geometry, dx.shape, w.shape, dy.shape);
  ACGAN_CHECK(dy.dtype == w.dtype && dy.dtype == dx.dtype && (!bias || bias.dtype == dy.dtype));
  const ConvIndex at{geometry};
  const std::vector<double> gradient = host::widen(dy);
  const std::vector<double> weights = host::widen(w);
  std::vector<double> result = rows_of_bias(host::widen_or_zeros(bias, geometry.in_c), dx.count());

  for_each_tap(geometry, dy.rows(), [&](auto n, auto i, auto j, auto r, auto s, auto h, auto v) {
    const double* pixel = &gradient[at.y(n, i, j)];
    double* sums = &result[at.x(n, h, v)];
    for (std::int64_t o = 0; o < geometry.out_c; ++o) {
      const double* taps = &weights[at.w(o, r, s)];
      for (std::int64_t c = 0; c < geometry.in_c; ++c) sums[c] += pixel[o] * taps[c];
    }
  });
  host::store(dx, result);
}

void HostBackend::conv2d_backward_weight(const ConvGeometry& geometry, const Tensor& x,
                                         const Tensor& dy, const Tensor& dw,
                                         Accumulation accumulation) {
  check_shapes(geometry, x.shape, dw.shape, dy.shape);
  ACGAN_CHECK(x.dtype == dy.dtype && dw.dtype == DType::F32);
  const ConvIndex at{geometry};
  const std::vector<double> input = host::widen(x);
  const std::vector<double> gradient = host::widen(dy);
  std::vector<double> result(static_cast<std::size_t>(dw.count()), 0.0);

  for_each_tap(geometry, x.rows(), [&](auto n, auto i, auto j, auto r, auto s, auto h, auto v) {
    const double* pixel = &input[at.x(n, h, v)];
    const double* outer = &gradient[at.y(n, i, j)];
    for (std::int64_t o = 0; o < geometry.out_c; ++o) {
      double* sums = &result[at.w(o, r, s)];
      for (std::int64_t c = 0; c < geometry.in_c; ++c) sums[c] += outer[o] * pixel[c];
    }
  });
  host::store(dw, result, accumulation);
}

}  // namespace acgan
