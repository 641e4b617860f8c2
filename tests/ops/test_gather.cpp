#include <catch2/catch.hpp>

#include <cmath>

#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

using Values = std::vector<double>;

DType any_dtype() { return GENERATE(DType::F32, DType::F16, DType::BF16); }

Values gathered(const Values& images, const Values& indices, std::size_t size) {
  Values result;
  for (const double index : indices) {
    const auto* image = images.data() + static_cast<std::size_t>(index) * size;
    result.insert(result.end(), image, image + size);
  }
  return result;
}

}  // namespace

TEST_CASE_METHOD(TensorFixture, "gathered images are the chosen ones, divided and rounded",
                 "[ops][gather]") {
  const DType dtype = any_dtype();
  const Shape image = GENERATE(Shape{1, 1, 1}, Shape{5, 7, 3}, Shape{28, 28, 1}, Shape{32, 32, 3});
  const std::int64_t chosen = GENERATE(1, 5, 64);
  const float divisor = GENERATE(256.0f, 255.0f, 1.0f);
  CAPTURE(name_of(dtype), image.text(), chosen, divisor);
  place(chosen == 5 ? Placement::OffByOne : Placement::Aligned);
  const Shape all{11, image[0], image[1], image[2]};
  const Values images = random_integers(all.count(), 1, 0, 255);
  Values indices = random_integers(chosen, 2, 0, 10);
  indices[0] = 10;  // the last image
  Values expected = gathered(images, indices, static_cast<std::size_t>(image.count()));
  for (double& value : expected) value /= double{divisor};
  const Tensor destination = output({chosen, image[0], image[1], image[2]}, dtype);
  backend().gather_images(input(all, DType::U8, images), input({chosen}, DType::I32, indices),
                          divisor, destination);
  if (divisor == 256.0f && dtype != DType::BF16) check_equal(read(destination), expected);  // exact
  const Values magnitude(expected.size(), 1.0 / double{divisor});
  check_close(read(destination), {expected, magnitude, 1}, dtype);
}

TEST_CASE_METHOD(TensorFixture, "gathered labels are the chosen ones", "[ops][gather]") {
  const std::int64_t chosen = GENERATE(1, 5, 1023);
  const Values labels = random_integers(70, 3, -5, 1000000);
  const Values indices = random_integers(chosen, 4, 0, 69);
  const Tensor destination = output({chosen}, DType::I32);
  backend().gather_labels(input({70}, DType::I32, labels), input({chosen}, DType::I32, indices),
                          destination);
  check_equal(read(destination), gathered(labels, indices, 1));
}

TEST_CASE_METHOD(TensorFixture, "gathering refuses indices and shapes that do not fit",
                 "[ops][gather]") {
  const Tensor images = in_out({3, 2, 2, 1}, DType::U8, Values(12, 9.0));
  const Tensor labels = in_out({3}, DType::I32, {4.0, 5.0, 6.0});
  const Tensor batch = in_out({2, 2, 2, 1}, DType::F32, Values(8, 0.0));
  const Tensor two = in_out({2}, DType::I32, {0.0, 1.0});
  for (const double index : {-1.0, 3.0}) {
    const Tensor outside = in_out({2}, DType::I32, {0.0, index});
    if (on_device()) {
      backend().gather_images(images, outside, 256.0f, batch);
      const Values values = read(batch);
      for (std::size_t i = 0; i < values.size(); ++i) CHECK(std::isnan(values[i]) == (i >= 4));
      const Tensor chosen = output({2}, DType::I32);
      backend().gather_labels(labels, outside, chosen);
      check_equal(read(chosen), {4.0, -1.0});
      continue;
    }
    CHECK_THROWS_AS(backend().gather_images(images, outside, 256.0f, batch), std::logic_error);
    CHECK_THROWS_AS(backend().gather_labels(labels, outside, two), std::logic_error);
  }
  const Tensor wide = in_out({2, 2, 1, 2}, DType::F32, Values(8, 0.0));
  CHECK_THROWS_AS(backend().gather_images(images, two, 256.0f, wide), std::logic_error);
  CHECK_THROWS_AS(backend().gather_images(images, labels, 256.0f, batch), std::logic_error);
  CHECK_THROWS_AS(backend().gather_labels(labels, labels, two), std::logic_error);
}

}  // namespace acgan::test
