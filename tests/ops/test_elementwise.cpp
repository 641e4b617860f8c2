#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "backend/open_backend.h"
#include "base/error.h"
#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

DType any_dtype() { return GENERATE(DType::F32, DType::F16, DType::BF16); }

Shape any_shape() {
  return GENERATE(Shape{1}, Shape{7}, Shape{1023}, Shape{5, 3}, Shape{3, 28, 28, 1},
                  Shape{3, 7, 5, 64}, Shape{70001});
}

std::size_t count(const Shape& shape) { return static_cast<std::size_t>(shape.count()); }

Reference with_magnitude(Values values, double magnitude) {
  const std::size_t size = values.size();
  return {std::move(values), Values(size, magnitude), 1};
}

}  // namespace

TEST_CASE_METHOD(TensorFixture, "fresh memory is aligned and zero", "[ops][memory]") {
  const std::size_t bytes = GENERATE(1, 63, 64, 65, 4097, (1 << 20) + 3);
  CAPTURE(bytes);
  Buffer buffer(backend(), bytes);
  REQUIRE(buffer.data() != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
  std::vector<unsigned char> contents(bytes, 1);
  backend().download(contents.data(),
                     {buffer.data(), {static_cast<std::int64_t>(bytes)}, DType::U8});
  CHECK(std::count(contents.begin(), contents.end(), 0) == static_cast<std::ptrdiff_t>(bytes));
}

TEST_CASE_METHOD(TensorFixture, "memory that cannot be had is a device error naming its size",
                 "[ops][memory]") {
  try {
    Buffer buffer(backend(), std::size_t{1} << 60);
    FAIL("an allocation of 2^60 bytes went through");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Device);
    CHECK_THAT(error.what(), Catch::Contains("1099511627776 MiB"));
  }
}

TEST_CASE_METHOD(TensorFixture, "copy and zero keep to their tensor", "[ops][memory]") {
  const DType dtype = GENERATE(DType::F32, DType::F16, DType::BF16, DType::U8, DType::I32);
  const Shape shape = any_shape();
  CAPTURE(name_of(dtype), shape.text());
  place(GENERATE(Placement::Aligned, Placement::OffByOne));
  const Values values = random_integers(shape.count(), 1, 0, 100);
  const Tensor source = input(shape, dtype, values);
  const Tensor destination = output(shape, dtype);
  backend().copy(source, destination);
  backend().synchronize();
  check_equal(read(destination), values);
  backend().zero(destination);
  backend().synchronize();
  check_equal(read(destination), Values(values.size(), 0.0));
  Shape other = shape;
  if (other.rank() < Shape::kMaxRank) {
    other.push_back(1);
    CHECK_THROWS_AS(backend().copy(source, destination.reshaped(other)), std::logic_error);
  }
}

TEST_CASE_METHOD(TensorFixture, "cast rounds to nearest even between all floating types",
                 "[ops][elementwise]") {
  const DType from = any_dtype();
  const DType to = GENERATE(DType::F32, DType::F16, DType::BF16);
  const Shape shape = any_shape();
  CAPTURE(name_of(from), name_of(to), shape.text());
  place(GENERATE(Placement::Aligned, Placement::OffByOne));
  Values values = random_values(shape.count(), 2, -70000.0, 70000.0);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] *= 1e-9;  // subnormal in half
  for (std::size_t i = 1; i < values.size(); i += 3) values[i] *= 1e-4;
  const double special[] = {65519.0,   65520.0,    -65536.0,     2049.0, 2051.0, 0x1p-25,
                            kInfinity, -kInfinity, 1.0 + 0x1p-8, 0.0,    3e38};
  for (std::size_t i = 0; i < std::size(special) && i < values.size(); ++i) {
    values[values.size() - 1 - i] = special[i];
  }
  values = rounded(values, from);
  const Tensor destination = output(shape, to);
  backend().cast(input(shape, from, values), destination);
  check_equal(read(destination), rounded(values, to));
}

TEST_CASE_METHOD(TensorFixture, "cast keeps NaN and the sign of zero", "[ops][elementwise]") {
  const DType from = any_dtype();
  const DType to = GENERATE(DType::F32, DType::F16, DType::BF16);
  Values values(19, -0.0);
  values[3] = values[18] = std::nan("");
  const Tensor destination = output({19}, to);
  backend().cast(input({19}, from, values), destination);
  const Values result = read(destination);
  for (std::size_t i = 0; i < result.size(); ++i) {
    CHECK(std::isnan(result[i]) == (i == 3 || i == 18));
    if (!std::isnan(result[i])) CHECK((result[i] == 0.0 && std::signbit(result[i])));
  }
}

TEST_CASE_METHOD(TensorFixture, "activation forward is what the formula says and keeps NaN",
                 "[ops][elementwise]") {
  const DType dtype = any_dtype();
  const Shape shape = any_shape();
  const Activation activation = GENERATE(Activation::None, Activation::Relu, Activation::LeakyRelu);
  CAPTURE(name_of(dtype), shape.text(), static_cast<int>(activation));
  place(GENERATE(Placement::Aligned, Placement::OffByOne));
  const Values x = rounded(random_values(shape.count(), 21), dtype);
  Values expected = x;
  const double below = activation == Activation::LeakyRelu ? double{kLeakySlope} : 0.0;
  for (double& value : expected) {
    if (value < 0.0 && activation != Activation::None) value *= below;
  }
  expected = rounded(expected, dtype);
  const Tensor y = output(shape, dtype);
  backend().activation_forward(input(shape, dtype, x), activation, y);
  check_equal(read(y), expected);
  const Tensor in_place = in_out(shape, dtype, x);
  backend().activation_forward(in_place, activation, in_place);
  check_equal(read(in_place), expected);

  const Tensor special = output({3}, dtype);
  backend().activation_forward(input({3}, dtype, {std::nan(""), kInfinity, -kInfinity}), activation,
                               special);
  const Values values = read(special);
  CHECK(std::isnan(values[0]));
  CHECK(values[1] == kInfinity);
  CHECK(values[2] == (activation == Activation::Relu ? 0.0 : -kInfinity));
}

TEST_CASE_METHOD(TensorFixture, "add is the sum rounded once, also in place",
                 "[ops][elementwise]") {
  const DType dtype = any_dtype();
  const Shape shape = any_shape();
  CAPTURE(name_of(dtype), shape.text());
  place(GENERATE(Placement::Aligned, Placement::OffByOne));
  const Values a = rounded(random_values(shape.count(), 22, -8.0, 8.0), dtype);
  const Values b = rounded(random_values(shape.count(), 23), dtype);
  Values expected = a;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += b[i];
  expected = rounded(rounded(expected, DType::F32), dtype);
  const Tensor a_view = input(shape, dtype, a), b_view = input(shape, dtype, b);
  const Tensor y = output(shape, dtype);
  backend().add(a_view, b_view, y);
  check_equal(read(y), expected);
  const Tensor first = in_out(shape, dtype, a), second = in_out(shape, dtype, b);
  backend().add(first, b_view, first);
  check_equal(read(first), expected);
  backend().add(a_view, second, second);
  check_equal(read(second), expected);
}

TEST_CASE_METHOD(TensorFixture, "activation backward follows the sign of the output",
                 "[ops][elementwise]") {
  const DType dtype = any_dtype();
  const Shape shape = any_shape();
  const Activation activation = GENERATE(Activation::None, Activation::Relu, Activation::LeakyRelu);
  CAPTURE(name_of(dtype), shape.text(), static_cast<int>(activation));
  Values y = rounded(random_values(shape.count(), 3), dtype);
  for (std::size_t i = 0; i < y.size(); i += 5) y[i] = i % 2 == 0 ? 0.0 : -0.0;
  const Values dy = rounded(random_values(shape.count(), 4), dtype);
  Values expected = dy;
  const double below = activation == Activation::LeakyRelu ? double{kLeakySlope} : 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] <= 0.0 && activation != Activation::None) expected[i] *= below;
  }
  expected = rounded(expected, dtype);
  const Tensor y_view = input(shape, dtype, y);
  const Tensor dx = output(shape, dtype);
  backend().activation_backward(y_view, input(shape, dtype, dy), activation, dx);
  check_equal(read(dx), expected);
  const Tensor in_place = in_out(shape, dtype, dy);
  backend().activation_backward(y_view, in_place, activation, in_place);
  check_equal(read(in_place), expected);
}

TEST_CASE_METHOD(TensorFixture, "sigmoid is close to float64", "[ops][elementwise]") {
  const DType dtype = any_dtype();
  const Shape shape = any_shape();
  CAPTURE(name_of(dtype), shape.text());
  place(GENERATE(Placement::Aligned, Placement::OffByOne));
  const Values x = rounded(random_values(shape.count(), 5, -12.0, 12.0), dtype);
  Values expected;
  for (const double value : x) expected.push_back(1.0 / (1.0 + std::exp(-value)));
  const Tensor y = output(shape, dtype);
  backend().sigmoid_forward(input(shape, dtype, x), y);
  check_close(read(y), with_magnitude(expected, 1.0), dtype);
}

TEST_CASE_METHOD(TensorFixture, "sigmoid saturates without faults and keeps NaN",
                 "[ops][elementwise]") {
  const DType dtype = any_dtype();
  CAPTURE(name_of(dtype));
  const Values x{-kInfinity, -30000.0, -100.0, 0.0, 100.0, 30000.0, kInfinity, std::nan(""), 0.0};
  const Tensor y = output({9}, dtype);
  backend().sigmoid_forward(input({9}, dtype, x), y);
  const Values result = read(y);
  for (std::size_t i = 0; i < 3; ++i) CHECK((result[i] >= 0.0 && result[i] < 1e-37));
  CHECK(result[3] == 0.5);
  for (std::size_t i = 4; i < 7; ++i) CHECK(result[i] == 1.0);
  CHECK(std::isnan(result[7]));
}

TEST_CASE_METHOD(TensorFixture, "sigmoid backward is close to float64", "[ops][elementwise]") {
  const DType dtype = any_dtype();
  const Shape shape = any_shape();
  CAPTURE(name_of(dtype), shape.text());
  const Values y = rounded(random_values(shape.count(), 6, 0.0, 1.0), dtype);
  const Values dy = rounded(random_values(shape.count(), 7), dtype);
  Values expected;
  for (std::size_t i = 0; i < count(shape); ++i) expected.push_back(dy[i] * y[i] * (1.0 - y[i]));
  const Tensor y_view = input(shape, dtype, y);
  const Tensor dx = output(shape, dtype);
  backend().sigmoid_backward(y_view, input(shape, dtype, dy), dx);
  check_close(read(dx), with_magnitude(expected, 0.25), dtype);
  const Tensor in_place = in_out(shape, dtype, dy);
  backend().sigmoid_backward(y_view, in_place, in_place);
  check_equal(read(in_place), read(dx));
}

TEST_CASE_METHOD(HostFixture, "the sigmoid gradient equals finite differences",
                 "[ops][elementwise][gradient]") {
  const Values x = rounded(random_values(9, 8, -3.0, 3.0), DType::F32);
  const Values direction = rounded(random_values(9, 9), DType::F32);
  const auto loss = [&](const Values& at_x) {
    GuardedTensor x_tensor(backend(), {9}, DType::F32);
    GuardedTensor y_tensor(backend(), {9}, DType::F32);
    x_tensor.write(at_x);
    backend().sigmoid_forward(x_tensor.view(), y_tensor.view());
    return dot(y_tensor.read(), direction);
  };
  const Tensor y = output({9}, DType::F32);
  const Tensor dx = output({9}, DType::F32);
  backend().sigmoid_forward(input({9}, DType::F32, x), y);
  backend().sigmoid_backward(y, input({9}, DType::F32, direction), dx);
  check_gradient(read(dx), numerical_gradient(x, 0x1p-5, loss), 1e-5);
}

TEST_CASE_METHOD(TensorFixture, "the generator's input is z and a one-hot label",
                 "[ops][elementwise]") {
  const DType dtype = any_dtype();
  const std::int64_t rows = GENERATE(1, 5, 64);
  const std::int64_t width = GENERATE(1, 7, 100);
  const std::int64_t classes = GENERATE(1, 3, 10);
  CAPTURE(name_of(dtype), rows, width, classes);
  const Values z = rounded(random_values(rows * width, 10), DType::F32);
  const Values labels = random_integers(rows, 11, 0, static_cast<int>(classes) - 1);
  Values expected;
  for (std::size_t n = 0; n < static_cast<std::size_t>(rows); ++n) {
    const auto w = static_cast<std::size_t>(width);
    for (std::size_t i = 0; i < w; ++i) expected.push_back(z[n * w + i]);
    for (std::int64_t k = 0; k < classes; ++k) {
      expected.push_back(static_cast<double>(k) == labels[n] ? 1.0 : 0.0);
    }
  }
  const Tensor y = output({rows, width + classes}, dtype);
  backend().concat_one_hot(input({rows, width}, DType::F32, z), input({rows}, DType::I32, labels),
                           y);
  check_equal(read(y), rounded(expected, dtype));
}

TEST_CASE_METHOD(TensorFixture, "elementwise operations refuse shapes that do not fit",
                 "[ops][elementwise]") {
  const Tensor a = in_out({3, 4}, DType::F32, Values(12, 1.0));
  const Tensor b = in_out({4, 3}, DType::F32, Values(12, 1.0));
  const Tensor labels = in_out({3}, DType::I32, {0.0, 1.0, 2.0});
  const Tensor floats = in_out({3}, DType::F32, {0.0, 1.0, 2.0});
  const Tensor wide = in_out({3, 6}, DType::F32, Values(18, 1.0));
  CHECK_THROWS_AS(backend().cast(a, b), std::logic_error);
  CHECK_THROWS_AS(backend().cast(labels, floats), std::logic_error);
  CHECK_THROWS_AS(backend().sigmoid_forward(a, b), std::logic_error);
  CHECK_THROWS_AS(backend().sigmoid_backward(a, a, b), std::logic_error);
  CHECK_THROWS_AS(backend().activation_backward(a, b, Activation::Relu, a), std::logic_error);
  CHECK_THROWS_AS(backend().activation_forward(a, Activation::Relu, b), std::logic_error);
  CHECK_THROWS_AS(backend().add(a, b, a), std::logic_error);
  if (on_device()) {
    backend().concat_one_hot(a, labels, wide);  // label 2 of 2
    const Values values = read(wide);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(std::isnan(values[i]) == (i >= 16));
  } else {
    CHECK_THROWS_AS(backend().concat_one_hot(a, labels, wide), std::logic_error);
  }
  CHECK_THROWS_AS(backend().concat_one_hot(a, labels, a), std::logic_error);  // no class at all
}

TEST_CASE("devices that are not there are told apart", "[ops][open_backend]") {
  const auto kind_of = [](const std::string& device, int threads) {
    try {
      open_backend(device, threads);
    } catch (const Error& error) {
      CHECK_THAT(error.what(), Catch::Contains("expected") || Catch::Contains("cannot be used"));
      return error.kind();
    }
    FAIL("device " << device << " was opened");
    return ErrorKind::Usage;
  };
  for (const char* device : {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda0", "cpu "}) {
    CHECK(kind_of(device, 0) == ErrorKind::Usage);
  }
  CHECK(kind_of("cpu", -1) == ErrorKind::Usage);
  CHECK(kind_of("cuda:99", 0) == ErrorKind::Device);  // with or without CUDA in the build
}

TEST_CASE("the names of backends open them", "[ops][open_backend]") {
  for (const std::string& name : backend_names()) {
    const std::unique_ptr<Backend> backend = open_backend(name, 1);
    CHECK(!backend->name().empty());
    CHECK(!backend->description().empty());
    CHECK(backend->computes_in(DType::F32));
  }
}

}  // namespace acgan::test
