#include <catch2/catch.hpp>

#include <cmath>

#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

using Values = std::vector<double>;

DType any_dtype() { return GENERATE(DType::F32, DType::F16, DType::BF16); }

Shape any_images() {
  return GENERATE(Shape{1, 1, 1, 1}, Shape{2, 2, 2, 3}, Shape{3, 5, 7, 5}, Shape{2, 3, 4, 8},
                  Shape{1, 9, 2, 64}, Shape{5, 32, 32, 3}, Shape{2, 8, 8, 128}, Shape{1, 7, 1, 17});
}

Shape halved(const Shape& large) {
  return {large[0], (large[1] + 1) / 2, (large[2] + 1) / 2, large[3]};
}

std::size_t at(const Shape& shape, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
  return static_cast<std::size_t>(((n * shape[1] + h) * shape[2] + w) * shape[3] + c);
}

// Calls body(n, h, w, c) for every element of images.
template <typename Body>
void for_each_element(const Shape& shape, const Body& body) {
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    for (std::int64_t h = 0; h < shape[1]; ++h) {
      for (std::int64_t w = 0; w < shape[2]; ++w) {
        for (std::int64_t c = 0; c < shape[3]; ++c) body(n, h, w, c);
      }
    }
  }
}

Reference pooled(const Shape& large, const Values& x, double scale) {
  const Shape small = halved(large);
  Reference y{{}, {}, 4};
  for_each_element(small, [&](auto n, auto h, auto w, auto c) {
    double sum = 0.0, magnitude = 0.0;
    for (std::int64_t i = 2 * h; i < std::min(2 * h + 2, large[1]); ++i) {
      for (std::int64_t j = 2 * w; j < std::min(2 * w + 2, large[2]); ++j) {
        sum += x[at(large, n, i, j, c)];
        magnitude += std::abs(x[at(large, n, i, j, c)]);
      }
    }
    y.value.push_back(scale * sum);
    y.magnitude.push_back(scale * magnitude);
  });
  return y;
}

}  // namespace

TEST_CASE_METHOD(TensorFixture, "pooling is close to float64 sums", "[ops][pooling]") {
  const DType dtype = any_dtype();
  const Shape large = any_images();
  const float scale = GENERATE(1.0f, 0.25f, 0.3f);
  CAPTURE(name_of(dtype), large.text(), scale);
  place(GENERATE(Placement::Aligned, Placement::OffByOne));
  const Values x = rounded(random_values(large.count(), 1), dtype);
  const Tensor y = output(halved(large), dtype);
  backend().pool2(input(large, dtype, x), scale, y);
  check_close(read(y), pooled(large, x, double{scale}), dtype);
}

TEST_CASE_METHOD(TensorFixture, "unpooling spreads each value over its window", "[ops][pooling]") {
  const DType dtype = any_dtype();
  const Shape large = any_images(), small = halved(large);
  const float scale = GENERATE(1.0f, 0.25f, 0.3f);
  CAPTURE(name_of(dtype), large.text(), scale);
  place(GENERATE(Placement::Aligned, Placement::OffByOne));
  const Values x = rounded(random_values(small.count(), 2), dtype);
  Values expected;
  for_each_element(large, [&](auto n, auto h, auto w, auto c) {
    expected.push_back(double{scale} * x[at(small, n, h / 2, w / 2, c)]);
  });
  const Tensor y = output(large, dtype);
  backend().unpool2(input(small, dtype, x), scale, y);
  check_equal(read(y), rounded(rounded(expected, DType::F32), dtype));
}

// Integers, whose sums are exact: <pool x, y> = <x, unpool y> to the last bit.
TEST_CASE_METHOD(TensorFixture, "unpooling is the transpose of pooling", "[ops][pooling]") {
  const DType dtype = any_dtype();
  const Shape large = any_images(), small = halved(large);
  CAPTURE(name_of(dtype), large.text());
  const Values x = random_integers(large.count(), 3, -4, 4);
  const Values y = random_integers(small.count(), 4, -4, 4);
  const Tensor pool_x = output(small, dtype), unpool_y = output(large, dtype);
  backend().pool2(input(large, dtype, x), 0.5f, pool_x);
  backend().unpool2(input(small, dtype, y), 0.5f, unpool_y);
  CHECK(dot(read(pool_x), y) == dot(x, read(unpool_y)));
}

TEST_CASE_METHOD(TensorFixture, "pooling keeps NaN and overflows to infinity", "[ops][pooling]") {
  const Shape large{1, 2, 4, 1};
  const Tensor y = output({1, 1, 2, 1}, DType::F16);
  const double most = 65504.0;
  backend().pool2(input(large, DType::F16, {most, most, 1.0, std::nan(""), 0.0, 0.0, 1.0, 1.0}),
                  1.0f, y);
  CHECK(read(y)[0] == INFINITY);
  CHECK(std::isnan(read(y)[1]));
}

TEST_CASE_METHOD(TensorFixture, "pooling refuses shapes that do not fit", "[ops][pooling]") {
  const Tensor large = in_out({2, 5, 4, 3}, DType::F32, Values(120, 1.0));
  const Tensor fits = in_out({2, 3, 2, 3}, DType::F32, Values(36, 1.0));
  const Tensor floor = in_out({2, 2, 2, 3}, DType::F32, Values(24, 1.0));
  const Tensor half = in_out({2, 3, 2, 3}, DType::F16, Values(36, 1.0));
  CHECK_NOTHROW(backend().pool2(large, 1.0f, fits));
  CHECK_THROWS_AS(backend().pool2(large, 1.0f, floor), std::logic_error);
  CHECK_THROWS_AS(backend().pool2(large, 1.0f, half), std::logic_error);
  CHECK_THROWS_AS(backend().unpool2(floor, 1.0f, large), std::logic_error);
  CHECK_THROWS_AS(backend().unpool2(half, 1.0f, large), std::logic_error);
}

}  // namespace acgan::test
