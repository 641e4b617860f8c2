#include <catch2/catch.hpp>

#include <cmath>
#include <ostream>

#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

struct DenseCase {
  std::int64_t rows, in, out;

  Shape x() const { return {rows, in}; }
  Shape y() const { return {rows, out}; }
  Shape w() const { return {out, in}; }
};

std::ostream& operator<<(std::ostream& out, const DenseCase& c) {
  return out << c.rows << " rows, " << c.in << " -> " << c.out;
}

using Values = std::vector<double>;

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

// value[i,j] = start[i,j] + sum over k of a(i,k) * b(j,k), the form of all three products.
template <typename A, typename B>
Reference product(Shape shape, std::int64_t terms, const Values& start, const A& a, const B& b) {
  Reference result{{}, {}, terms + 1};
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    for (std::int64_t j = 0; j < shape[1]; ++j) {
      double value = start.empty() ? 0.0 : start[index(i * shape[1] + j)];
      double magnitude = std::abs(value);
      for (std::int64_t k = 0; k < terms; ++k) {
        value += a(i, k) * b(j, k);
        magnitude += std::abs(a(i, k) * b(j, k));
      }
      result.value.push_back(value);
      result.magnitude.push_back(magnitude);
    }
  }
  return result;
}

Reference dense_forward(const DenseCase& c, const Values& x, const Values& w, const Values& bias) {
  Values start;
  for (std::int64_t n = 0; n < c.rows; ++n) start.insert(start.end(), bias.begin(), bias.end());
  return product(
      c.y(), c.in, start, [&](auto n, auto k) { return x[index(n * c.in + k)]; },
      [&](auto o, auto k) { return w[index(o * c.in + k)]; });
}

Reference dense_backward_data(const DenseCase& c, const Values& dy, const Values& w,
                              const Values& before) {
  return product(
      c.x(), c.out, before, [&](auto n, auto o) { return dy[index(n * c.out + o)]; },
      [&](auto k, auto o) { return w[index(o * c.in + k)]; });
}

Reference dense_backward_weight(const DenseCase& c, const Values& x, const Values& dy,
                                const Values& before) {
  return product(
      c.w(), c.rows, before, [&](auto o, auto n) { return dy[index(n * c.out + o)]; },
      [&](auto k, auto n) { return x[index(n * c.in + k)]; });
}

std::vector<DenseCase> dense_cases() {
  return {
      {1, 1, 1},     {3, 7, 5},     {5, 110, 64},  {1, 1023, 17}, {3, 64, 1},  {2, 1024, 1},
      {64, 128, 10}, {70, 33, 129}, {67, 257, 65}, {17, 16, 300}, {3, 1, 8},   {1, 5, 1000},
      {130, 49, 31}, {6, 13, 16},   {7, 2049, 33}, {12, 96, 96},  {256, 3, 2},
  };
}

DType any_dtype() { return GENERATE(DType::F32, DType::F16, DType::BF16); }

}  // namespace

TEST_CASE_METHOD(TensorFixture, "dense forward is close to float64 loops", "[ops][dense]") {
  const DType dtype = any_dtype();
  const DenseCase c = GENERATE(from_range(dense_cases()));
  CAPTURE(name_of(dtype), c);
  const Values x = rounded(random_values(c.x().count(), 1), dtype);
  const Values w = rounded(random_values(c.w().count(), 2), dtype);
  const Values bias = rounded(random_values(c.out, 3, -4.0, 4.0), dtype);
  const Tensor x_view = input(c.x(), dtype, x);
  const Tensor w_view = input(c.w(), dtype, w);
  const Tensor bias_view = input({c.out}, dtype, bias);

  const Tensor y = output(c.y(), dtype);
  backend().dense_forward(x_view, w_view, bias_view, y);
  const Reference expected = dense_forward(c, x, w, bias);
  check_close(read(y), expected, dtype);

  const Tensor logits = output(c.y(), DType::F32);  // F32 whatever the compute dtype
  backend().dense_forward(x_view, w_view, bias_view, logits);
  check_close(read(logits), expected, DType::F32);

  const Tensor without_bias = output(c.y(), dtype);
  backend().dense_forward(x_view, w_view, {}, without_bias);
  check_close(read(without_bias), dense_forward(c, x, w, {}), dtype);
}

TEST_CASE_METHOD(TensorFixture, "dense backward data is close to float64 loops", "[ops][dense]") {
  const DType dtype = any_dtype();
  const DenseCase c = GENERATE(from_range(dense_cases()));
  CAPTURE(name_of(dtype), c);
  const Values dy = rounded(random_values(c.y().count(), 4), dtype);
  const Values w = rounded(random_values(c.w().count(), 5), dtype);
  const Values before = rounded(random_values(c.x().count(), 6, -4.0, 4.0), dtype);
  const Tensor dy_view = input(c.y(), dtype, dy);
  const Tensor w_view = input(c.w(), dtype, w);

  const Tensor dx = output(c.x(), dtype);
  backend().dense_backward_data(dy_view, w_view, dx, Accumulation::Overwrite);
  check_close(read(dx), dense_backward_data(c, dy, w, {}), dtype);

  const Tensor sum = in_out(c.x(), dtype, before);
  backend().dense_backward_data(dy_view, w_view, sum, Accumulation::Add);
  check_close(read(sum), dense_backward_data(c, dy, w, before), dtype, Rounding::Twice);
}

TEST_CASE_METHOD(TensorFixture, "dense backward weight is close to float64 loops", "[ops][dense]") {
  const DType dtype = any_dtype();
  const DenseCase c = GENERATE(from_range(dense_cases()));
  CAPTURE(name_of(dtype), c);
  const Values x = rounded(random_values(c.x().count(), 7), dtype);
  const Values dy = rounded(random_values(c.y().count(), 8), dtype);
  const Values before = rounded(random_values(c.w().count(), 9, -8.0, 8.0), DType::F32);
  const Tensor x_view = input(c.x(), dtype, x);
  const Tensor dy_view = input(c.y(), dtype, dy);

  const Tensor dw = output(c.w(), DType::F32);
  backend().dense_backward_weight(x_view, dy_view, dw, Accumulation::Overwrite);
  check_close(read(dw), dense_backward_weight(c, x, dy, {}), DType::F32);

  const Tensor sum = in_out(c.w(), DType::F32, before);
  backend().dense_backward_weight(x_view, dy_view, sum, Accumulation::Add);
  check_close(read(sum), dense_backward_weight(c, x, dy, before), DType::F32);
}

TEST_CASE_METHOD(TensorFixture, "dense layers of small integers are exact", "[ops][dense]") {
  const DType dtype = any_dtype();
  const DenseCase c = GENERATE(DenseCase{3, 110, 7}, DenseCase{65, 31, 17}, DenseCase{5, 64, 1},
                               DenseCase{1, 9, 129});
  CAPTURE(name_of(dtype), c);
  place(GENERATE(Placement::Aligned, Placement::OffByOne));
  const Values x = random_integers(c.x().count(), 11, -1, 1);
  const Values w = random_integers(c.w().count(), 12, -2, 2);
  const Values dy = random_integers(c.y().count(), 13, -1, 1);
  const Values bias = random_integers(c.out, 14, -5, 5);
  const Values before_x = random_integers(c.x().count(), 15, -9, 9);
  const Values before_w = random_integers(c.w().count(), 16, -9, 9);
  const Tensor x_view = input(c.x(), dtype, x);
  const Tensor w_view = input(c.w(), dtype, w);
  const Tensor dy_view = input(c.y(), dtype, dy);

  const Tensor y = output(c.y(), dtype);
  backend().dense_forward(x_view, w_view, input({c.out}, dtype, bias), y);
  check_equal(read(y), dense_forward(c, x, w, bias).value);
  const Tensor dx = in_out(c.x(), dtype, before_x);
  backend().dense_backward_data(dy_view, w_view, dx, Accumulation::Add);
  check_equal(read(dx), dense_backward_data(c, dy, w, before_x).value);
  const Tensor dw = in_out(c.w(), DType::F32, before_w);
  backend().dense_backward_weight(x_view, dy_view, dw, Accumulation::Add);
  check_equal(read(dw), dense_backward_weight(c, x, dy, before_w).value);
}

TEST_CASE_METHOD(TensorFixture, "dense layers see weights that were updated", "[ops][dense]") {
  const DType dtype = any_dtype();
  const DenseCase c{5, 48, 33};
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
    backend().dense_forward(x_view, w_view, {}, y);
    check_equal(read(y), dense_forward(c, x, w, {}).value);
    const Tensor dx = output(c.x(), dtype);
    backend().dense_backward_data(dy_view, w_view, dx, Accumulation::Overwrite);
    check_equal(read(dx), dense_backward_data(c, dy, w, {}).value);
  }
}

TEST_CASE_METHOD(TensorFixture, "dense layers overflow to infinity in half and keep NaN",
                 "[ops][dense]") {
  const DenseCase c{3, 40, 9};
  const Tensor w = input(c.w(), DType::F16, Values(index(c.w().count()), 64.0));
  const Tensor x = input(c.x(), DType::F16, Values(index(c.x().count()), 512.0));
  const Tensor y = output(c.y(), DType::F16);
  backend().dense_forward(x, w, {}, y);
  for (const double value : read(y)) REQUIRE(value == INFINITY);
  const Tensor logits = output(c.y(), DType::F32);
  backend().dense_forward(x, w, {}, logits);
  for (const double value : read(logits)) REQUIRE(value == 40.0 * 64.0 * 512.0);

  const DType dtype = any_dtype();
  CAPTURE(name_of(dtype));
  Values one_nan(index(c.x().count()), 1.0);
  one_nan[index(c.in)] = std::nan("");  // in the second row
  const Tensor ones = input(c.w(), dtype, Values(index(c.w().count()), 1.0));
  const Tensor result = output(c.y(), dtype);
  backend().dense_forward(input(c.x(), dtype, one_nan), ones, {}, result);
  const Values values = read(result);
  for (std::int64_t i = 0; i < c.y().count(); ++i) {
    CHECK(std::isnan(values[index(i)]) == (i / c.out == 1));
  }
}

TEST_CASE_METHOD(TensorFixture, "the bias gradient is the sum over all but the last axis",
                 "[ops][dense]") {
  const DType dtype = any_dtype();
  const Shape shape = GENERATE(Shape{1, 1}, Shape{5, 7}, Shape{3, 4, 6, 5}, Shape{2, 28, 28, 1},
                               Shape{67, 129}, Shape{3, 14, 14, 64}, Shape{900, 3});
  CAPTURE(name_of(dtype), shape.text());
  const std::int64_t channels = shape.back();
  const Values dy = rounded(random_values(shape.count(), 31), dtype);
  const Values before = rounded(random_values(channels, 32, -8.0, 8.0), DType::F32);
  const Tensor dy_view = input(shape, dtype, dy);
  Reference expected{before, Values(index(channels)), shape.count() / channels + 1};
  Reference overwritten{Values(index(channels)), Values(index(channels)), expected.terms};
  for (std::size_t c = 0; c < index(channels); ++c) {
    for (std::size_t k = c; k < dy.size(); k += index(channels)) {
      overwritten.value[c] += dy[k];
      overwritten.magnitude[c] += std::abs(dy[k]);
    }
    expected.value[c] += overwritten.value[c];
    expected.magnitude[c] = overwritten.magnitude[c] + std::abs(before[c]);
  }
  const Tensor db = output({channels}, DType::F32);
  backend().bias_backward(dy_view, db, Accumulation::Overwrite);
  check_close(read(db), overwritten, DType::F32);
  const Tensor sum = in_out({channels}, DType::F32, before);
  backend().bias_backward(dy_view, sum, Accumulation::Add);
  check_close(read(sum), expected, DType::F32);
}

TEST_CASE_METHOD(HostFixture, "dense gradients equal finite differences",
                 "[ops][dense][gradient]") {
  const DenseCase c{3, 7, 5};
  const Values x = rounded(random_values(c.x().count(), 41), DType::F32);
  const Values w = rounded(random_values(c.w().count(), 42), DType::F32);
  const Values bias = rounded(random_values(c.out, 43), DType::F32);
  const Values slope = rounded(random_values(c.y().count(), 44), DType::F32);  // dloss / dy
  const auto loss = [&](const Values& at_x, const Values& at_w, const Values& at_bias) {
    GuardedTensor x_tensor(backend(), c.x(), DType::F32);
    GuardedTensor w_tensor(backend(), c.w(), DType::F32);
    GuardedTensor bias_tensor(backend(), {c.out}, DType::F32);
    GuardedTensor y(backend(), c.y(), DType::F32);
    x_tensor.write(at_x);
    w_tensor.write(at_w);
    bias_tensor.write(at_bias);
    backend().dense_forward(x_tensor.view(), w_tensor.view(), bias_tensor.view(), y.view());
    return dot(y.read(), slope);
  };
  const Tensor dy = input(c.y(), DType::F32, slope);
  const Tensor dx = output(c.x(), DType::F32);
  const Tensor dw = output(c.w(), DType::F32);
  const Tensor db = output({c.out}, DType::F32);
  backend().dense_backward_data(dy, input(c.w(), DType::F32, w), dx, Accumulation::Overwrite);
  backend().dense_backward_weight(input(c.x(), DType::F32, x), dy, dw, Accumulation::Overwrite);
  backend().bias_backward(dy, db, Accumulation::Overwrite);
  const auto by_x = [&](const Values& v) { return loss(v, w, bias); };
  const auto by_w = [&](const Values& v) { return loss(x, v, bias); };
  const auto by_bias = [&](const Values& v) { return loss(x, w, v); };
  check_gradient(read(dx), numerical_gradient(x, 0.125, by_x), 1e-5);
  check_gradient(read(dw), numerical_gradient(w, 0.125, by_w), 1e-5);
  check_gradient(read(db), numerical_gradient(bias, 0.125, by_bias), 1e-5);
}

TEST_CASE_METHOD(TensorFixture, "dense layers refuse shapes that do not fit", "[ops][dense]") {
  const Tensor x = in_out({3, 7}, DType::F32, Values(21, 1.0));
  const Tensor w = in_out({5, 7}, DType::F32, Values(35, 1.0));
  const Tensor y = in_out({3, 5}, DType::F32, Values(15, 1.0));
  const Tensor fewer = y.slice(0, 2);
  CHECK_THROWS_AS(backend().dense_forward(x, w, {}, fewer), std::logic_error);
  CHECK_THROWS_AS(backend().dense_forward(y, w, {}, x), std::logic_error);
  CHECK_THROWS_AS(backend().dense_backward_data(fewer, w, x, Accumulation::Overwrite),
                  std::logic_error);
  CHECK_THROWS_AS(backend().dense_backward_weight(x, fewer, w, Accumulation::Add),
                  std::logic_error);
  CHECK_THROWS_AS(backend().bias_backward(y, w, Accumulation::Add), std::logic_error);
}

}  // namespace acgan::test
