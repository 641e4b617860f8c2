#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "train/latent_walk.h"
#include "train/sampler.h"
#include "train/step_harness.h"

namespace acgan::test {

namespace {

double length_of(std::span<const float> v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

double angle_between(std::span<const float> a, std::span<const float> b) {
  const double product = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  return std::acos(product / length_of(a) / length_of(b));
}

}  // namespace

TEST_CASE("a walk turns evenly from one latent to the other and keeps their length") {
  constexpr std::size_t kLatent = 100;
  const std::vector<float> z = sample_latents(3, 2, kLatent);
  const std::span from = std::span(z).first(kLatent), to = std::span(z).last(kLatent);
  const std::vector<float> walk = latent_walk(from, to, 5);
  REQUIRE(walk.size() == 5 * kLatent);
  const auto at = [&](std::size_t step) {
    return std::span(walk).subspan(step * kLatent, kLatent);
  };
  CHECK(std::ranges::equal(at(0), from));
  CHECK(std::ranges::equal(at(4), to));
  const double whole = angle_between(from, to);
  for (std::size_t step = 1; step < 5; ++step) {
    const double part = static_cast<double>(step) / 4;
    CHECK(length_of(at(step)) == Approx(std::lerp(length_of(from), length_of(to), part)));
    CHECK(angle_between(at(step - 1), at(step)) == Approx(whole / 4).epsilon(1e-4));
  }
  CHECK(latent_walk(from, to, 2) == z);
}

TEST_CASE("latents in one line with the origin are joined by a straight line") {
  const auto walk = [](std::vector<float> from, std::vector<float> to) {
    return latent_walk(from, to, 3);
  };
  CHECK(walk({0.5f}, {-0.5f}) == std::vector<float>{0.5f, 0, -0.5f});
  CHECK(walk({1, 0}, {0.5f, 0}) == std::vector<float>{1, 0, 0.75f, 0, 0.5f, 0});
  CHECK(walk({0, 0}, {0, 1}) == std::vector<float>{0, 0, 0, 0.5f, 0, 1});
}

TEST_CASE("rows of a latent walk go from a latent to the next, each in one class") {
  const std::vector<float> z{1, 0, 0, 1, -1, 0};  // three latents of two numbers
  const std::vector<std::int32_t> labels{2, 0};
  const WalkGrid grid = walk_latents(z, 2, labels, 3, 2);
  CHECK(grid.rows == 4);
  CHECK(grid.columns == 2);
  CHECK(grid.z == std::vector<float>{1, 0, 0, 1, 1, 0, 0, 1, 0, 1, -1, 0, 0, 1, -1, 0});
  const std::vector<float> weights{0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0,
                                   0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0};
  CHECK(grid.class_weights == weights);
}

TEST_CASE("rows of a class walk keep their latent and pass every class once") {
  const std::vector<float> z{1, 2, 3, 4};
  const std::vector<std::int32_t> labels{1, 0, 2};
  const WalkGrid grid = walk_classes(z, 2, labels, 3, 3);
  CHECK(grid.rows == 2);
  CHECK(grid.columns == 5);
  CHECK(grid.z == std::vector<float>{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4});
  const std::vector<float> row{0, 1, 0, 0.5f, 0.5f, 0, 1, 0, 0, 0.5f, 0, 0.5f, 0, 0, 1};
  std::vector<float> weights = row;
  weights.insert(weights.end(), row.begin(), row.end());
  CHECK(grid.class_weights == weights);
}

TEST_CASE("a blend that is all one class is that class's image to the bit") {
  Harness harness(small_options(GENERATE(DType::F32, DType::F16)));
  harness.run(2);
  Sampler sampler(harness.step_.model(), 2);  // chunks, the last one not full
  const std::vector<float> z = sample_latents(4, 3, 6);
  const std::vector<std::int32_t> labels{2, 0, 1};
  const std::vector<float> images = sampler.generate(z, labels);
  CHECK(sampler.generate_blends(z, std::vector<float>{0, 0, 1, 1, 0, 0, 0, 1, 0}) == images);
  CHECK(sampler.generate_blends(z, std::vector<float>{0, 0.5f, 0.5f, 1, 0, 0, 0, 1, 0}) != images);
}

}  // namespace acgan::test
