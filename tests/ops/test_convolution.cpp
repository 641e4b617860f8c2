#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan {

static std::ostream& operator<<(std::ostream& out, const ConvGeometry& g) {
  return out << g.in_h << "x" << g.in_w << "x" << g.in_c << " -> " << g.out_h << "x" << g.out_w
             << "x" << g.out_c << ", kernel " << g.kernel << " stride " << g.stride << " pad "
             << g.pad;
}

namespace test {
namespace {

struct ConvCase {
  std::int64_t images;
  ConvGeometry g;

  Shape x() const { return {images, g.in_h, g.in_w, g.in_c}; }
  Shape y() const { return {images, g.out_h, g.out_w, g.out_c}; }
  Shape w() const { return {g.out_c, g.kernel, g.kernel, g.in_c}; }
};

std::ostream& operator<<(std::ostream& out, const ConvCase& c) {
  return out << c.images << " images " << c.g;
}

struct Window {
  std::int64_t kernel = 4, stride = 2, pad = 1;
};

ConvCase conv_case(std::int64_t images, Shape image, std::int64_t out_c, Window window = {}) {
  const auto extent = [&](std::int64_t in) {
    return (in + 2 * window.pad - window.kernel) / window.stride + 1;
  };
  return {images,
          {.in_h = image[0],
           .in_w = image[1],
           .in_c = image[2],
           .out_h = extent(image[0]),
           .out_w = extent(image[1]),
           .out_c = out_c,
           .kernel = window.kernel,
           .stride = window.stride,
           .pad = window.pad}};
}

std::vector<ConvCase> conv_cases() {
  return {
      conv_case(1, {2, 2, 1}, 1),
      conv_case(1, {2, 6, 7}, 16),
      conv_case(3, {4, 4, 8}, 3),
      conv_case(3, {6, 6, 1}, 8),
      conv_case(5, {14, 10, 3}, 5),
      conv_case(1, {6, 12, 16}, 64),
      conv_case(3, {8, 4, 64}, 7),
      conv_case(70, {4, 6, 3}, 5),
      conv_case(3, {28, 28, 1}, 64),
      conv_case(3, {32, 32, 3}, 64),
      conv_case(3, {14, 14, 64}, 128),
      // odd images, where the last row and column of x meet fewer taps or none
      conv_case(2, {5, 7, 3}, 5),
      conv_case(1, {13, 9, 8}, 16),
      // other windows
      conv_case(3, {5, 9, 5}, 7, {3, 1, 1}),
      conv_case(5, {4, 4, 8}, 3, {1, 1, 0}),
      conv_case(3, {8, 8, 16}, 24, {3, 1, 1}),  // those of residual blocks
      conv_case(2, {7, 5, 3}, 8, {3, 1, 1}),
      conv_case(1, {9, 6, 40}, 1, {3, 1, 1}),
      conv_case(2, {5, 7, 16}, 8, {1, 1, 0}),
      conv_case(3, {7, 3, 3}, 5, {1, 1, 0}),
      conv_case(1, {11, 13, 3}, 7, {5, 3, 2}),
      conv_case(2, {8, 6, 7}, 8, {2, 2, 0}),
      conv_case(3, {7, 4, 16}, 5, {4, 1, 0}),
      conv_case(1, {9, 5, 3}, 8, {3, 4, 1}),  // some pixels meet no tap at all
      conv_case(2, {4, 4, 2}, 3, {7, 2, 3}),
  };
}

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

// The sums below visit products in the order of the formula, one result at a time.
struct Sum {
  double value = 0.0;
  double magnitude = 0.0;
  void add(double term) {
    value += term;
    magnitude += std::abs(term);
  }
};

void append(Reference& reference, const Sum& sum) {
  reference.value.push_back(sum.value);
  reference.magnitude.push_back(sum.magnitude);
}

bool inside(std::int64_t value, std::int64_t extent) { return value >= 0 && value < extent; }

using Values = std::vector<double>;

Reference conv_forward(const ConvCase& c, const Values& x, const Values& w, const Values& bias) {
  const ConvGeometry& g = c.g;
  Reference y{{}, {}, g.kernel * g.kernel * g.in_c + 1};
  for (std::int64_t p = 0; p < c.y().count(); ++p) {
    const std::int64_t o = p % g.out_c;
    const std::int64_t j = p / g.out_c % g.out_w;
    const std::int64_t i = p / g.out_c / g.out_w % g.out_h;
    const std::int64_t n = p / g.out_c / g.out_w / g.out_h;
    Sum sum;
    if (!bias.empty()) sum.add(bias[index(o)]);
    for (std::int64_t r = 0; r < g.kernel; ++r) {
      for (std::int64_t s = 0; s < g.kernel; ++s) {
        const std::int64_t h = g.stride * i + r - g.pad;
        const std::int64_t v = g.stride * j + s - g.pad;
        if (!inside(h, g.in_h) || !inside(v, g.in_w)) continue;
        for (std::int64_t k = 0; k < g.in_c; ++k) {
          sum.add(w[index(((o * g.kernel + r) * g.kernel + s) * g.in_c + k)] *
                  x[index(((n * g.in_h + h) * g.in_w + v) * g.in_c + k)]);
        }
      }
    }
    append(y, sum);
  }
  return y;
}

// Gather form: the output pixels (i, j) whose window covers the input pixel.
Reference conv_backward_data(const ConvCase& c, const Values& dy, const Values& w,
                             const Values& bias) {
  const ConvGeometry& g = c.g;
  Reference dx{{}, {}, g.kernel * g.kernel * g.out_c + 1};
  for (std::int64_t p = 0; p < c.x().count(); ++p) {
    const std::int64_t k = p % g.in_c;
    const std::int64_t v = p / g.in_c % g.in_w;
    const std::int64_t h = p / g.in_c / g.in_w % g.in_h;
    const std::int64_t n = p / g.in_c / g.in_w / g.in_h;
    Sum sum;
    if (!bias.empty()) sum.add(bias[index(k)]);
    for (std::int64_t i = 0; i < g.out_h; ++i) {
      const std::int64_t r = h + g.pad - g.stride * i;
      if (!inside(r, g.kernel)) continue;
      for (std::int64_t j = 0; j < g.out_w; ++j) {
        const std::int64_t s = v + g.pad - g.stride * j;
        if (!inside(s, g.kernel)) continue;
        for (std::int64_t o = 0; o < g.out_c; ++o) {
          sum.add(dy[index(((n * g.out_h + i) * g.out_w + j) * g.out_c + o)] *
                  w[index(((o * g.kernel + r) * g.kernel + s) * g.in_c + k)]);
        }
      }
    }
    append(dx, sum);
  }
  return dx;
}

Reference conv_backward_weight(const ConvCase& c, const Values& x, const Values& dy,
                               const Values& before) {
  const ConvGeometry& g = c.g;
  Reference dw{{}, {}, c.images * g.out_h * g.out_w + 1};
  for (std::int64_t p = 0; p < c.w().count(); ++p) {
    const std::int64_t k = p % g.in_c;
    const std::int64_t s = p / g.in_c % g.kernel;
    const std::int64_t r = p / g.in_c / g.kernel % g.kernel;
    const std::int64_t o = p / g.in_c / g.kernel / g.kernel;
    Sum sum;
    if (!before.empty()) sum.add(before[index(p)]);
    for (std::int64_t n = 0; n < c.images; ++n) {
      for (std::int64_t i = 0; i < g.out_h; ++i) {
        const std::int64_t h = g.stride * i + r - g.pad;
        if (!inside(h, g.in_h)) continue;
        for (std::int64_t j = 0; j < g.out_w; ++j) {
          const std::int64_t v = g.stride * j + s - g.pad;
          if (!inside(v, g.in_w)) continue;
          sum.add(x[index(((n * g.in_h + h) * g.in_w + v) * g.in_c + k)] *
                  dy[index(((n * g.out_h + i) * g.out_w + j) * g.out_c + o)]);
        }
      }
    }
    append(dw, sum);
  }
  return dw;
}

double activate(double value, Activation activation) {
  if (value > 0.0 || activation == Activation::None) return value;
  return activation == Activation::Relu ? 0.0 : value * double{kLeakySlope};
}

Reference activated(Reference reference, Activation activation) {
  for (double& value : reference.value) value = activate(value, activation);
  return reference;
}

DType any_dtype() { return GENERATE(DType::F32, DType::F16, DType::BF16); }

}  // namespace

TEST_CASE_METHOD(TensorFixture, "convolution forward is close to float64 loops",
                 "[ops][convolution]") {
  const DType dtype = any_dtype();
  const ConvCase c = GENERATE(from_range(conv_cases()));
  CAPTURE(name_of(dtype), c);
  const Values x = rounded(random_values(c.x().count(), 1), dtype);
  const Values w = rounded(random_values(c.w().count(), 2), dtype);
  const Values bias = rounded(random_values(c.g.out_c, 3, -4.0, 4.0), dtype);
  const Tensor x_view = input(c.x(), dtype, x);
  const Tensor w_view = input(c.w(), dtype, w);
  const Tensor bias_view = input({c.g.out_c}, dtype, bias);

  const Reference with_bias = conv_forward(c, x, w, bias);
  const Activation activations[] = {Activation::None, Activation::Relu, Activation::LeakyRelu};
  for (const Activation activation : activations) {
    CAPTURE(static_cast<int>(activation));
    const Tensor y = output(c.y(), dtype);
    backend().conv2d_forward(c.g, x_view, w_view, bias_view, activation, y);
    check_close(read(y), activated(with_bias, activation), dtype,
                rounds_as_cudnn() ? Rounding::Twice : Rounding::Once);
  }
  const Tensor y = output(c.y(), dtype);
  backend().conv2d_forward(c.g, x_view, w_view, {}, Activation::LeakyRelu, y);
  check_close(read(y), activated(conv_forward(c, x, w, {}), Activation::LeakyRelu), dtype,
              rounds_as_cudnn() ? Rounding::Twice : Rounding::Once);
}

TEST_CASE_METHOD(TensorFixture, "convolution backward data is close to float64 loops",
                 "[ops][convolution]") {
  const DType dtype = any_dtype();
  const ConvCase c = GENERATE(from_range(conv_cases()));
  CAPTURE(name_of(dtype), c);
  const Values dy = rounded(random_values(c.y().count(), 4), dtype);
  const Values w = rounded(random_values(c.w().count(), 5), dtype);
  const Values bias = rounded(random_values(c.g.in_c, 6, -4.0, 4.0), dtype);
  const Tensor dy_view = input(c.y(), dtype, dy);
  const Tensor w_view = input(c.w(), dtype, w);

  const Tensor dx = output(c.x(), dtype);
  backend().conv2d_backward_data(c.g, dy_view, w_view, {}, dx);
  check_close(read(dx), conv_backward_data(c, dy, w, {}), dtype);

  const Tensor y = output(c.x(), dtype);  // the same as a transposed convolution
  const Tensor bias_view = input({c.g.in_c}, dtype, bias);
  backend().conv2d_backward_data(c.g, dy_view, w_view, bias_view, y);
  check_close(read(y), conv_backward_data(c, dy, w, bias), dtype, Rounding::Twice);
}

TEST_CASE_METHOD(TensorFixture, "convolution backward weight is close to float64 loops",
                 "[ops][convolution]") {
  const DType dtype = any_dtype();
  const ConvCase c = GENERATE(from_range(conv_cases()));
  CAPTURE(name_of(dtype), c);
  const Values x = rounded(random_values(c.x().count(), 7), dtype);
  const Values dy = rounded(random_values(c.y().count(), 8), dtype);
  const Values before = rounded(random_values(c.w().count(), 9, -8.0, 8.0), DType::F32);
  const Tensor x_view = input(c.x(), dtype, x);
  const Tensor dy_view = input(c.y(), dtype, dy);

  const DType rounded_to = rounds_as_cudnn() ? dtype : DType::F32;
  const Tensor dw = output(c.w(), DType::F32);
  backend().conv2d_backward_weight(c.g, x_view, dy_view, dw, Accumulation::Overwrite);
  check_close(read(dw), conv_backward_weight(c, x, dy, {}), rounded_to);

  const Tensor sum = in_out(c.w(), DType::F32, before);
  backend().conv2d_backward_weight(c.g, x_view, dy_view, sum, Accumulation::Add);
  check_close(read(sum), conv_backward_weight(c, x, dy, before), rounded_to,
              rounds_as_cudnn() ? Rounding::Twice : Rounding::Once);
}

// Integers whose products and sums are exact in every type: the order of summation cannot matter.
TEST_CASE_METHOD(TensorFixture, "convolutions of small integers are exact", "[ops][convolution]") {
  const DType dtype = any_dtype();
  const ConvCase c = GENERATE(conv_case(3, {14, 10, 7}, 5), conv_case(1, {5, 7, 16}, 3),
                              conv_case(5, {6, 2, 3}, 8), conv_case(3, {5, 4, 5}, 7, {3, 1, 1}));
  CAPTURE(name_of(dtype), c);
  place(GENERATE(Placement::Aligned, Placement::OffByOne));
  const Values x = random_integers(c.x().count(), 11, -1, 1);
  const Values w = random_integers(c.w().count(), 12, -2, 2);
  const Values dy = random_integers(c.y().count(), 13, -1, 1);
  const Values out_bias = random_integers(c.g.out_c, 14, -5, 5);
  const Values in_bias = random_integers(c.g.in_c, 15, -5, 5);
  const Tensor x_view = input(c.x(), dtype, x);
  const Tensor w_view = input(c.w(), dtype, w);
  const Tensor dy_view = input(c.y(), dtype, dy);

  const Tensor y = output(c.y(), dtype);
  backend().conv2d_forward(c.g, x_view, w_view, input({c.g.out_c}, dtype, out_bias),
                           Activation::Relu, y);
  check_equal(read(y), activated(conv_forward(c, x, w, out_bias), Activation::Relu).value);

  const Tensor dx = output(c.x(), dtype);
  backend().conv2d_backward_data(c.g, dy_view, w_view, input({c.g.in_c}, dtype, in_bias), dx);
  check_equal(read(dx), conv_backward_data(c, dy, w, in_bias).value);

  const Values before = random_integers(c.w().count(), 16, -9, 9);
  const Tensor dw = in_out(c.w(), DType::F32, before);
  backend().conv2d_backward_weight(c.g, x_view, dy_view, dw, Accumulation::Add);
  check_equal(read(dw), conv_backward_weight(c, x, dy, before).value);
}

// Backends keep weights in a layout of their own.
TEST_CASE_METHOD(TensorFixture, "convolutions see weights that were updated",
                 "[ops][convolution]") {
  const DType dtype = any_dtype();
  const ConvCase c = conv_case(3, {6, 6, 8}, 16);
  CAPTURE(name_of(dtype));
  const Values x = random_integers(c.x().count(), 21, -1, 1);
  const Values dy = random_integers(c.y().count(), 22, -1, 1);
  const Tensor x_view = input(c.x(), dtype, x);
  const Tensor dy_view = input(c.y(), dtype, dy);
  const Tensor w_view = in_out(c.w(), dtype, Values(index(c.w().count()), 0.0));
  for (const unsigned seed : {23u, 24u}) {
    const Values w = random_integers(c.w().count(), seed, -1, 1);
    backend().upload(w_view, encode(w, dtype).data());
    backend().weights_updated(w_view);
    const Tensor y = output(c.y(), dtype);
    backend().conv2d_forward(c.g, x_view, w_view, {}, Activation::None, y);
    check_equal(read(y), conv_forward(c, x, w, {}).value);
    const Tensor dx = output(c.x(), dtype);
    backend().conv2d_backward_data(c.g, dy_view, w_view, {}, dx);
    check_equal(read(dx), conv_backward_data(c, dy, w, {}).value);
  }
}

TEST_CASE_METHOD(TensorFixture, "convolutions overflow to infinity in half and keep NaN",
                 "[ops][convolution]") {
  const ConvCase c = conv_case(1, {4, 4, 8}, 8);
  const Tensor w = input(c.w(), DType::F16, Values(index(c.w().count()), 64.0));
  const Tensor large = input(c.x(), DType::F16, Values(index(c.x().count()), 512.0));
  const Tensor y = output(c.y(), DType::F16);
  backend().conv2d_forward(c.g, large, w, {}, Activation::LeakyRelu, y);
  for (const double value : read(y)) REQUIRE(value == INFINITY);

  const DType dtype = any_dtype();
  const Activation activation = GENERATE(Activation::None, Activation::Relu, Activation::LeakyRelu);
  CAPTURE(name_of(dtype), static_cast<int>(activation));
  const Tensor ones = input(c.w(), dtype, Values(index(c.w().count()), 1.0));
  const Tensor nan = input(c.x(), dtype, Values(index(c.x().count()), std::nan("")));
  const Tensor result = output(c.y(), dtype);
  backend().conv2d_forward(c.g, nan, ones, {}, activation, result);
  for (const double value : read(result)) REQUIRE(std::isnan(value));
}

TEST_CASE_METHOD(TensorFixture, "backward data is the adjoint of forward", "[ops][convolution]") {
  const ConvCase c = GENERATE(from_range(conv_cases()));
  CAPTURE(c);
  const Values x = rounded(random_values(c.x().count(), 31), DType::F32);
  const Values y = rounded(random_values(c.y().count(), 32), DType::F32);
  const Tensor w = input(c.w(), DType::F32, random_values(c.w().count(), 33));
  const Tensor forward = output(c.y(), DType::F32);
  const Tensor backward = output(c.x(), DType::F32);
  backend().conv2d_forward(c.g, input(c.x(), DType::F32, x), w, {}, Activation::None, forward);
  backend().conv2d_backward_data(c.g, input(c.y(), DType::F32, y), w, {}, backward);
  const Values conv_x = read(forward);
  const double length = std::sqrt(dot(conv_x, conv_x) * dot(y, y));
  CHECK(std::abs(dot(conv_x, y) - dot(x, read(backward))) <= 1e-5 * length);
}

TEST_CASE_METHOD(HostFixture, "convolution gradients equal finite differences",
                 "[ops][convolution][gradient]") {
  const ConvCase c = GENERATE(conv_case(2, {4, 6, 3}, 5), conv_case(1, {5, 5, 2}, 3, {3, 2, 1}));
  CAPTURE(c);
  const Values x = rounded(random_values(c.x().count(), 41), DType::F32);
  const Values w = rounded(random_values(c.w().count(), 42), DType::F32);
  const Values slope = rounded(random_values(c.y().count(), 43), DType::F32);  // dloss / dy
  const auto loss = [&](const Values& at_x, const Values& at_w) {
    GuardedTensor y(backend(), c.y(), DType::F32);
    GuardedTensor x_tensor(backend(), c.x(), DType::F32);
    GuardedTensor w_tensor(backend(), c.w(), DType::F32);
    x_tensor.write(at_x);
    w_tensor.write(at_w);
    backend().conv2d_forward(c.g, x_tensor.view(), w_tensor.view(), {}, Activation::None, y.view());
    return dot(y.read(), slope);
  };
  const Tensor dy = input(c.y(), DType::F32, slope);
  const Tensor dx = output(c.x(), DType::F32);
  const Tensor dw = output(c.w(), DType::F32);
  backend().conv2d_backward_data(c.g, dy, input(c.w(), DType::F32, w), {}, dx);
  backend().conv2d_backward_weight(c.g, input(c.x(), DType::F32, x), dy, dw,
                                   Accumulation::Overwrite);
  check_gradient(read(dx),
                 numerical_gradient(x, 0.125, [&](const Values& v) { return loss(v, w); }), 1e-5);
  check_gradient(read(dw),
                 numerical_gradient(w, 0.125, [&](const Values& v) { return loss(x, v); }), 1e-5);
}

TEST_CASE_METHOD(TensorFixture, "convolutions refuse shapes that do not fit",
                 "[ops][convolution]") {
  const ConvCase c = conv_case(2, {6, 6, 3}, 5);
  const Tensor x = in_out(c.x(), DType::F32, Values(index(c.x().count()), 1.0));
  const Tensor y = in_out(c.y(), DType::F32, Values(index(c.y().count()), 1.0));
  const Tensor w = in_out(c.w(), DType::F32, Values(index(c.w().count()), 1.0));
  const Tensor fewer = y.slice(0, 1);
  CHECK_THROWS_AS(backend().conv2d_forward(c.g, x, w, {}, Activation::None, fewer),
                  std::logic_error);
  CHECK_THROWS_AS(backend().conv2d_forward(c.g, y, w, {}, Activation::None, x), std::logic_error);
  CHECK_THROWS_AS(backend().conv2d_backward_data(c.g, fewer, w, {}, x), std::logic_error);
  CHECK_THROWS_AS(backend().conv2d_backward_weight(c.g, x, fewer, w, Accumulation::Overwrite),
                  std::logic_error);
}

}  // namespace test
}  // namespace acgan
