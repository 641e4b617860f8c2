#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/device_value.h"
#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

using Values = std::vector<double>;

constexpr RandomState kState{.seed = 0x123456789abcdef0u, .step = 77};

DType any_dtype() { return GENERATE(DType::F32, DType::F16, DType::BF16); }

Augmentation any_kinds() {
  return GENERATE(Augmentation{}, Augmentation{.color = true}, Augmentation{.translation = true},
                  Augmentation{.cutout = true},
                  Augmentation{.color = true, .translation = true, .cutout = true});
}

// One image, changed one thing after the other as the paper's code does it, in float64.
Values augmented(Values x, const ImageAugmentation& drawn, int channels) {
  const auto side = static_cast<std::size_t>(drawn.side),
             depth = static_cast<std::size_t>(channels);
  for (double& value : x) value += double{drawn.brightness};
  for (std::size_t pixel = 0; pixel < x.size(); pixel += depth) {
    double mean = 0;
    for (std::size_t c = 0; c < depth; ++c) mean += x[pixel + c] / channels;
    for (std::size_t c = 0; c < depth; ++c) {
      x[pixel + c] = mean + double{drawn.saturation} * (x[pixel + c] - mean);
    }
  }
  double mean = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  for (double& value : x) value = mean + double{drawn.contrast} * (value - mean);
  Values moved(x.size(), 0.0);
  for (std::size_t h = 0; h < side; ++h) {
    for (std::size_t w = 0; w < side; ++w) {
      const int from_h = static_cast<int>(h) - drawn.down,
                from_w = static_cast<int>(w) - drawn.right;
      const bool inside = std::clamp(from_h, 0, drawn.side - 1) == from_h &&
                          std::clamp(from_w, 0, drawn.side - 1) == from_w;
      const int cut_h = static_cast<int>(h) - drawn.cut_top;
      const int cut_w = static_cast<int>(w) - drawn.cut_left;
      const bool cut = std::min(cut_h, cut_w) >= 0 && std::max(cut_h, cut_w) < drawn.cut_side;
      if (!inside || cut) continue;
      const auto from = static_cast<std::size_t>(from_h * drawn.side + from_w);
      for (std::size_t c = 0; c < depth; ++c) {
        moved[(h * side + w) * depth + c] = x[from * depth + c];
      }
    }
  }
  return moved;
}

class AugmentationFixture : public TensorFixture {
 protected:
  AugmentationDraw draw(const Augmentation& kinds, std::int64_t first = 0) const {
    return {.state = state.get(), .kinds = kinds, .first_image = first};
  }

  DeviceValue<RandomState> state{backend(), kState};
};

}  // namespace

TEST_CASE_METHOD(AugmentationFixture, "augmented images are close to float64",
                 "[ops][augmentation]") {
  const DType dtype = any_dtype();
  const Augmentation kinds = any_kinds();
  const Shape shape =
      GENERATE(Shape{5, 1, 1, 1}, Shape{3, 7, 7, 3}, Shape{9, 28, 28, 1}, Shape{2, 32, 32, 3});
  CAPTURE(name_of(dtype), shape.text(), kinds.color, kinds.translation, kinds.cutout);
  const Values x = rounded(random_values(shape.count(), 1, 0.0, 1.0), dtype);
  const std::int64_t first = 4, size = shape[1] * shape[2] * shape[3];
  Values expected;
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    const auto drawn = draw_augmentation(kState, kinds, first + n, static_cast<int>(shape[1]));
    const Values image = augmented({x.begin() + n * size, x.begin() + (n + 1) * size}, drawn,
                                   static_cast<int>(shape[3]));
    expected.insert(expected.end(), image.begin(), image.end());
  }
  const Tensor y = output(shape, dtype);
  backend().augment(draw(kinds, first), input(shape, dtype, x), y);
  if (!kinds.any()) check_equal(read(y), x);
  check_close(read(y), {expected, Values(expected.size(), 4.0), 8}, dtype);
}

TEST_CASE_METHOD(AugmentationFixture, "the way back is the transpose of the way there",
                 "[ops][augmentation][gradient]") {
  const Augmentation kinds = any_kinds();
  const Shape shape = GENERATE(Shape{3, 1, 1, 1}, Shape{4, 7, 7, 3}, Shape{9, 12, 12, 1});
  CAPTURE(shape.text(), kinds.color, kinds.translation, kinds.cutout);
  const Values x = rounded(random_values(shape.count(), 2), DType::F32);
  const Values u = rounded(random_values(shape.count(), 3), DType::F32);
  const Tensor y = output(shape, DType::F32), offset = output(shape, DType::F32);
  const Tensor dx = output(shape, DType::F32);
  backend().augment(draw(kinds, 2), input(shape, DType::F32, x), y);
  backend().augment(draw(kinds, 2), input(shape, DType::F32, Values(x.size(), 0.0)), offset);
  backend().augment_backward(draw(kinds, 2), input(shape, DType::F32, u), dx);
  Values linear = read(y);
  const Values constant = read(offset);
  for (std::size_t i = 0; i < linear.size(); ++i) linear[i] -= constant[i];
  CHECK_THAT(dot(linear, u), Catch::WithinAbs(dot(x, read(dx)), 1e-5 * double(x.size())));
}

TEST_CASE_METHOD(AugmentationFixture, "gradients of augmented images are rounded once",
                 "[ops][augmentation]") {
  const DType dtype = GENERATE(DType::F16, DType::BF16);
  const Augmentation kinds{.color = true, .translation = true, .cutout = true};
  const Shape shape{5, 11, 11, 3};
  const Values u = rounded(random_values(shape.count(), 4), dtype);
  const Tensor full = output(shape, DType::F32), narrow = output(shape, dtype);
  backend().augment_backward(draw(kinds), input(shape, DType::F32, u), full);
  backend().augment_backward(draw(kinds), input(shape, dtype, u), narrow);
  check_close(read(narrow), {read(full), Values(u.size(), 2.0), 8}, dtype);
}

TEST_CASE("augmentations stay in the paper's ranges and differ from image to image",
          "[ops][augmentation]") {
  const Augmentation kinds{.color = true, .translation = true, .cutout = true};
  std::set<int> downs, rights, tops;
  std::set<float> brightness;
  for (std::int64_t n = 0; n < 2000; ++n) {
    const ImageAugmentation drawn = draw_augmentation(kState, kinds, n, 32);
    brightness.insert(drawn.brightness);
    REQUIRE(std::abs(drawn.brightness) <= 0.25f);
    REQUIRE((drawn.saturation >= 0.0f && drawn.saturation < 2.0f));
    REQUIRE((drawn.contrast >= 0.5f && drawn.contrast < 1.5f));
    REQUIRE(drawn.cut_side == 16);
    downs.insert(drawn.down);
    rights.insert(drawn.right);
    tops.insert(drawn.cut_top);
  }
  CHECK(brightness.size() > 1990);
  CHECK(downs.size() == 9);  // -4 to 4
  CHECK((*downs.begin() == -4 && *downs.rbegin() == 4));
  CHECK(rights == downs);
  CHECK((*tops.begin() == -8 && *tops.rbegin() == 23));
}

TEST_CASE_METHOD(AugmentationFixture, "half of the images are mirrored, in place",
                 "[ops][augmentation]") {
  const DType dtype = any_dtype();
  const Shape shape =
      GENERATE(Shape{1, 1, 1, 1}, Shape{5, 3, 7, 3}, Shape{64, 28, 28, 1}, Shape{9, 4, 6, 2});
  CAPTURE(name_of(dtype), shape.text());
  place(shape[0] == 5 ? Placement::OffByOne : Placement::Aligned);
  const Values x = rounded(random_values(shape.count(), 5), dtype);
  Values expected = x;
  int mirrored = 0;
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    const auto words = philox_block(kState.seed, RandomStream::Flip, kState.step,
                                    static_cast<std::uint32_t>(n / 4));
    if (words[static_cast<std::size_t>(n % 4)] % 2 == 0) continue;
    ++mirrored;
    for (std::int64_t h = 0; h < shape[1]; ++h) {
      for (std::int64_t w = 0; w < shape[2]; ++w) {
        for (std::int64_t c = 0; c < shape[3]; ++c) {
          const std::int64_t row = (n * shape[1] + h) * shape[2];
          expected[static_cast<std::size_t>((row + w) * shape[3] + c)] =
              x[static_cast<std::size_t>((row + shape[2] - 1 - w) * shape[3] + c)];
        }
      }
    }
  }
  if (shape[0] == 64) CHECK((mirrored > 16 && mirrored < 48));
  const Tensor images = in_out(shape, dtype, x);
  backend().flip_images(state.get(), images);
  check_equal(read(images), expected);
  backend().flip_images(state.get(), images);
  check_equal(read(images), x);
}

}  // namespace acgan::test
