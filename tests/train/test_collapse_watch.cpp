#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "train/collapse_watch.h"

namespace acgan {
namespace {

constexpr std::size_t kRows = 4, kClasses = 3, kPixels = 64;
constexpr std::int64_t kBatch = 100;

using Pixels = std::vector<std::uint8_t>;

Pixels noise() {
  std::mt19937 random(3);
  Pixels pixels(kRows * kClasses * kPixels);
  for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(random() % 256);
  return pixels;
}

std::uint8_t& pixel(Pixels& pixels, std::size_t row, std::size_t c, std::size_t p) {
  return pixels[(row * kClasses + c) * kPixels + p];
}

// A watch that has seen `images` with this accuracy on fakes.
CollapseWatch watch_after(std::int64_t images, float accuracy_fake) {
  CollapseWatch watch({"boat", "cat", "sun"}, kBatch);
  for (std::int64_t seen = 0; seen < images; seen += kBatch) {
    watch.add({.accuracy_fake = accuracy_fake});
  }
  return watch;
}

TEST_CASE("healthy images and a classifier that knows them give no warning") {
  CHECK(watch_after(6000, 0.6f).check(noise(), kRows).empty());
}

TEST_CASE("images of one flat colour are named with their class, black ones too") {
  const std::uint8_t colour = GENERATE(std::uint8_t{0}, std::uint8_t{255}, std::uint8_t{99});
  Pixels pixels = noise();
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t p = 0; p < kPixels; ++p) pixel(pixels, row, 1, p) = colour;
  }
  CHECK(watch_after(6000, 0.6f).check(pixels, kRows) ==
        std::vector<std::string>{"the images of cat are one flat colour"});
  CHECK(watch_after(6000, 0.6f).check(Pixels(pixels.size(), colour), kRows) ==
        std::vector<std::string>{"the images of every class are one flat colour"});
}

TEST_CASE("images that do not depend on the latent are named") {
  Pixels pixels = noise();
  for (const std::size_t c : {std::size_t{0}, std::size_t{2}}) {
    for (std::size_t row = 1; row < kRows; ++row) {
      for (std::size_t p = 0; p < kPixels; ++p) {
        const int step = row % 2 == 0 ? 1 : 0;  // rounding does not hide it
        pixel(pixels, row, c, p) =
            static_cast<std::uint8_t>(std::min(255, pixel(pixels, 0, c, p) + step));
      }
    }
  }
  CHECK(
      watch_after(6000, 0.6f).check(pixels, kRows) ==
      std::vector<std::string>{"the images of boat, sun are all but the same whatever the latent"});
}

TEST_CASE("one row cannot show that the latent does nothing") {
  CollapseWatch watch(
      {"boat", "cat", "sun", "tea", "bee", "fox", "owl", "cow", "pig", "ant", "yak", "elk"},
      kBatch);
  for (int i = 0; i < 60; ++i) watch.add({.accuracy_fake = 0.9f});
  CHECK(watch.check(noise(), 1).empty());
}

TEST_CASE("a classifier at chance on the fakes is told with its figures, once for each check") {
  CollapseWatch watch = watch_after(6000, 0.33f);
  const auto sentences = watch.check(noise(), kRows);
  REQUIRE(sentences.size() == 1);
  CHECK_THAT(sentences.front(), Catch::Contains("33.0% of the last 6000 generated images") &&
                                    Catch::Contains("chance (33.3%)"));
  CHECK(watch.check(noise(), kRows).empty());  // no fakes since
  for (int i = 0; i < 3; ++i) watch.add({.accuracy_fake = 0.33f});
  CHECK(watch.check(noise(), kRows).empty());  // too few to tell
}

TEST_CASE("before enough images were seen nothing is said: an untrained generator is grey") {
  CHECK(watch_after(4900, 0.0f).check(Pixels(kRows * kClasses * kPixels, 128), kRows).empty());
}

}  // namespace
}  // namespace acgan
