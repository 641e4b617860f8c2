#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "data/nearest_images.h"

namespace acgan::test {

namespace {

// Images of 11x7x3 bytes, so that no block of a fast loop is full.
Dataset random_images(std::int64_t count) {
  Dataset set{.height = 11,
              .width = 7,
              .channels = 3,
              .class_names = {"a"},
              .images = std::vector<std::uint8_t>(static_cast<std::size_t>(count) * 231),
              .labels = std::vector<std::int32_t>(static_cast<std::size_t>(count), 0),
              .description = "random"};
  std::mt19937 random(7);
  for (std::uint8_t& byte : set.images) byte = static_cast<std::uint8_t>(random());
  return set;
}

double difference(const std::uint8_t* a, const std::uint8_t* b) {
  double sum = 0;
  for (std::size_t i = 0; i < 231; ++i) sum += std::pow(a[i] - b[i], 2);
  return std::sqrt(sum / 231);
}

}  // namespace

TEST_CASE("the nearest image is the one of all that differs least") {
  const Dataset set = random_images(40);
  const Dataset others = random_images(60);  // its last twenty are no images of the set
  const std::span images = std::span(others.images).subspan(35 * 231);
  const std::vector<NearestImage> nearest = nearest_images(set, images);
  REQUIRE(nearest.size() == 25);
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    std::int64_t best = 0;
    const auto difference_to = [&](std::int64_t k) {
      return difference(&images[i * 231], &set.images[static_cast<std::size_t>(k) * 231]);
    };
    for (std::int64_t k = 1; k < set.count(); ++k) {
      if (difference_to(k) < difference_to(best)) best = k;
    }
    CHECK(nearest[i].index == best);
    CHECK(nearest[i].difference == Approx(difference_to(best)));
    if (i < 5) CHECK(nearest[i].index == static_cast<std::int64_t>(35 + i));
    CHECK((nearest[i].difference == 0) == (i < 5));
  }
}

TEST_CASE("an image of the set is not its own nearest one, its double is") {
  Dataset set = random_images(6);
  std::copy_n(set.images.begin(), 231, set.images.begin() + 4 * 231);
  const std::vector<std::int64_t> indices{0, 4, 1};
  const std::vector<NearestImage> nearest = nearest_others(set, indices);
  CHECK(nearest[0].index == 4);
  CHECK(nearest[1].index == 0);
  CHECK(nearest[1].difference == 0);
  CHECK(nearest[2].index != 1);
  CHECK(nearest[2].difference > 0);
}

TEST_CASE("black and white differ by all there is, in images of any size") {
  Dataset set{.height = 256,
              .width = 256,
              .channels = 3,
              .class_names = {"a"},
              .images = std::vector<std::uint8_t>(256 * 256 * 3, 255),
              .labels = {0},
              .description = "white"};
  const std::vector<std::uint8_t> black(set.images.size(), 0);
  CHECK(nearest_images(set, black)[0].difference == Approx(255));
}

}  // namespace acgan::test
