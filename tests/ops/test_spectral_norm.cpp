#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/device_value.h"
#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

using Values = std::vector<double>;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

double length_of(const Values& values) { return std::sqrt(dot(values, values)); }

// W [rows, columns] and the vectors of the power iteration, in float64.
struct Matrix {
  Shape shape;
  Values w;

  std::int64_t rows() const { return shape[0]; }
  std::int64_t columns() const { return shape.count() / rows(); }
  Values times(const Values& v) const {
    Values result(at(rows()));
    for (std::int64_t k = 0; k < shape.count(); ++k) {
      result[at(k / columns())] += w[at(k)] * v[at(k % columns())];
    }
    return result;
  }
  Values transposed_times(const Values& u) const {
    Values result(at(columns()));
    for (std::int64_t k = 0; k < shape.count(); ++k) {
      result[at(k % columns())] += w[at(k)] * u[at(k / columns())];
    }
    return result;
  }
  double largest_singular_value() const {
    Values v = random_values(columns(), 99, 0.5, 1.0);
    for (int i = 0; i < 4000; ++i) {
      v = transposed_times(times(v));
      const double length = length_of(v);
      for (double& value : v) value /= length;
    }
    return length_of(times(v));
  }
};

Values unit(Values values) {
  const double length = length_of(values);
  for (double& value : values) value /= length;
  return values;
}

class SpectralFixture : public TensorFixture {
 protected:
  struct Weight {
    Matrix matrix;
    SpectralWeight arguments;
    Tensor working;
  };

  // A random weight; u is random, v and sigma are as they come.
  Weight weight(const Shape& shape, DType dtype = DType::F32) {
    Matrix matrix{shape, rounded(random_values(shape.count(), 1, -0.1, 0.1), DType::F32)};
    return weight_of(std::move(matrix), dtype);
  }
  Weight weight_of(Matrix matrix, DType dtype = DType::F32) {
    const Shape& shape = matrix.shape;
    const std::int64_t rows = matrix.rows(), columns = matrix.columns();
    const SpectralWeight arguments{
        .master = input(shape, DType::F32, matrix.w),
        .u = in_out({rows}, DType::F32, random_values(rows, 2)),
        .v = in_out({columns}, DType::F32, unit(random_values(columns, 3))),
        .sigma = in_out({1}, DType::F32, {0.75})};
    return {std::move(matrix), arguments, output(shape, dtype)};
  }
  void normalize(const Weight& weight, int iterations,
                 const std::vector<const OptimizerState*>& states = {}) {
    backend().spectral_normalize({.weight = weight.arguments,
                                  .working = weight.working,
                                  .power_iterations = iterations,
                                  .states = states});
  }
  std::vector<std::vector<std::byte>> bytes_of(const Weight& weight) const {
    const SpectralWeight& a = weight.arguments;
    return {read_bytes(a.u), read_bytes(a.v), read_bytes(a.sigma), read_bytes(weight.working)};
  }
};

DType any_dtype() { return GENERATE(DType::F32, DType::F16, DType::BF16); }

Shape any_shape() {
  return GENERATE(Shape{1, 1}, Shape{1, 1023}, Shape{37, 1}, Shape{3, 5, 5, 7}, Shape{16, 4, 4, 3},
                  Shape{64, 4, 4, 16}, Shape{130, 259});
}

}  // namespace

TEST_CASE_METHOD(SpectralFixture, "a power iteration follows float64", "[ops][spectral]") {
  const Shape shape = any_shape();
  const DType dtype = any_dtype();
  CAPTURE(shape.text(), name_of(dtype));
  place(shape.count() % 2 == 0 ? Placement::Aligned : Placement::OffByOne);
  const Weight w = weight(shape, dtype);
  const Values before = read(w.arguments.u);
  normalize(w, 1);
  const Matrix& m = w.matrix;
  const double tolerance = 1e-5;
  check_gradient(read(w.arguments.v), unit(m.transposed_times(before)), tolerance);
  const Values w_v = m.times(unit(m.transposed_times(before)));
  check_gradient(read(w.arguments.u), unit(w_v), tolerance);
  const double sigma = read(w.arguments.sigma).front();
  CHECK(sigma == Approx(length_of(w_v)).epsilon(tolerance));
  Values expected = m.w;
  for (double& value : expected) value /= sigma;
  check_equal(read(w.working), rounded(expected, dtype));
}

TEST_CASE_METHOD(SpectralFixture, "iterated, the largest singular value becomes one",
                 "[ops][spectral]") {
  const Shape shape = GENERATE(Shape{1, 40}, Shape{12, 4, 4, 2}, Shape{33, 65});
  const DType dtype = any_dtype();
  CAPTURE(shape.text(), name_of(dtype));
  const Weight w = weight(shape, dtype);
  for (int i = 0; i < 60; ++i) normalize(w, 5);
  const double largest = w.matrix.largest_singular_value();
  CHECK(read(w.arguments.sigma).front() == Approx(largest).epsilon(1e-5));
  const Matrix normalized{shape, read(w.working)};
  CHECK(normalized.largest_singular_value() ==
        Approx(1.0).epsilon(2 * rounding_unit(dtype) + 1e-5));
  const Values u = read(w.arguments.u), v = read(w.arguments.v);
  CHECK(length_of(u) == Approx(1.0).epsilon(1e-6));
  CHECK(dot(u, w.matrix.times(v)) == Approx(largest).epsilon(1e-5));
}

TEST_CASE_METHOD(SpectralFixture, "several iterations at once are as many single ones",
                 "[ops][spectral]") {
  const Weight once = weight({19, 44}), often = weight({19, 44});
  normalize(once, 4);
  for (int i = 0; i < 4; ++i) normalize(often, 1);
  CHECK(bytes_of(once) == bytes_of(often));
}

TEST_CASE_METHOD(SpectralFixture, "without an iteration the weight is divided by sigma as it is",
                 "[ops][spectral]") {
  const DType dtype = any_dtype();
  const Weight w = weight({9, 3, 3, 5}, dtype);
  const auto before = bytes_of(w);
  normalize(w, 0);
  Values expected = w.matrix.w;
  for (double& value : expected) value /= 0.75;
  check_equal(read(w.working), rounded(expected, dtype));
  const auto after = bytes_of(w);
  CHECK(std::equal(before.begin(), before.begin() + 3, after.begin()));
}

TEST_CASE_METHOD(SpectralFixture, "a weight that no optimiser moved stays to the bit",
                 "[ops][spectral]") {
  const DType dtype = any_dtype();
  const Weight w = weight({24, 40}, dtype);
  DeviceValue<OptimizerState> first(backend(), {.nonfinite = 1}), second(backend(), {});
  normalize(w, 1);
  const auto before = bytes_of(w);
  normalize(w, 1, {first.get()});
  CHECK(bytes_of(w) == before);
  second.write({.nonfinite = 1});
  normalize(w, 3, {first.get(), second.get()});
  CHECK(bytes_of(w) == before);
  second.write({});
  normalize(w, 1, {first.get(), second.get()});
  CHECK(bytes_of(w) != before);
}

TEST_CASE_METHOD(SpectralFixture, "a weight of zeros keeps its vectors and stays zero",
                 "[ops][spectral]") {
  const Weight w = weight_of({{6, 10}, Values(60, 0.0)});
  const auto before = bytes_of(w);
  normalize(w, 2);
  check_equal(read(w.working), Values(60, 0.0));
  CHECK(read(w.arguments.sigma).front() == double{kSmallestSigma});
  const auto after = bytes_of(w);
  CHECK(after[0] == before[0]);
  CHECK(after[1] == before[1]);
}

TEST_CASE_METHOD(SpectralFixture, "a NaN in a weight is not hidden", "[ops][spectral]") {
  Values values = random_values(70, 4);
  values[33] = std::numeric_limits<double>::quiet_NaN();
  const Weight w = weight_of({{7, 10}, values});
  normalize(w, 1);
  const Values result = read(w.working);
  CHECK(std::all_of(result.begin(), result.end(), [](double x) { return std::isnan(x); }));
}

TEST_CASE_METHOD(SpectralFixture, "the gradient of W / sigma becomes that of W",
                 "[ops][spectral]") {
  const Shape shape = any_shape();
  CAPTURE(shape.text());
  place(shape.count() % 2 == 0 ? Placement::Aligned : Placement::OffByOne);
  const Weight w = weight(shape);
  normalize(w, 3);
  const Values u = read(w.arguments.u), v = read(w.arguments.v);
  const double sigma = read(w.arguments.sigma).front();
  const Values g = rounded(random_values(shape.count(), 5, -3.0, 3.0), DType::F32);
  const Tensor gradient = in_out(shape, DType::F32, g);
  backend().spectral_norm_backward(w.arguments, gradient);
  const double product = dot(g, w.matrix.w) / sigma;
  Reference expected{.value = g, .magnitude = g, .terms = shape.count()};
  for (std::int64_t k = 0; k < shape.count(); ++k) {
    const double along = u[at(k / w.matrix.columns())] * v[at(k % w.matrix.columns())];
    expected.value[at(k)] = (g[at(k)] - product * along) / sigma;
    const double largest = std::sqrt(static_cast<double>(shape.count())) * 3.0 * 0.1 / sigma;
    expected.magnitude[at(k)] = (std::abs(g[at(k)]) + largest * std::abs(along)) / sigma;
  }
  check_close(read(gradient), expected, DType::F32);
}

// L(W) = <G, W / (u^T W v)>, u and v as they are.
TEST_CASE_METHOD(SpectralFixture, "the gradient of W equals finite differences",
                 "[ops][spectral]") {
  const Shape shape = GENERATE(Shape{1, 9}, Shape{5, 1}, Shape{4, 2, 2, 3}, Shape{11, 6});
  CAPTURE(shape.text());
  const Weight w = weight(shape);
  normalize(w, 1);
  const Values u = read(w.arguments.u), v = read(w.arguments.v);
  const Values g = rounded(random_values(shape.count(), 6), DType::F32);
  const Tensor gradient = in_out(shape, DType::F32, g);
  backend().spectral_norm_backward(w.arguments, gradient);
  const auto loss = [&](const Values& values) {
    return dot(g, values) / dot(u, Matrix{shape, values}.times(v));
  };
  check_gradient(read(gradient), numerical_gradient(w.matrix.w, 1e-4, loss), 1e-4);
}

TEST_CASE_METHOD(SpectralFixture, "a gradient that is not finite stays so", "[ops][spectral]") {
  const double bad =
      GENERATE(std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN());
  const Weight w = weight({8, 12});
  normalize(w, 1);
  Values g = random_values(96, 7);
  g[95] = bad;
  const Tensor gradient = in_out({8, 12}, DType::F32, g);
  backend().spectral_norm_backward(w.arguments, gradient);
  DeviceValue<OptimizerState> state(backend(), {});
  backend().flag_nonfinite(gradient, state.get());
  CHECK(state.read().nonfinite == 1);
}

TEST_CASE_METHOD(SpectralFixture, "vectors that do not fit the weight are refused",
                 "[ops][spectral]") {
  Weight w = weight({4, 6});
  std::swap(w.arguments.u, w.arguments.v);
  CHECK_THROWS_AS(normalize(w, 1), std::logic_error);
  const Tensor gradient = in_out({4, 6}, DType::F32, Values(24, 1.0));
  CHECK_THROWS_AS(backend().spectral_norm_backward(w.arguments, gradient), std::logic_error);
}

}  // namespace acgan::test
