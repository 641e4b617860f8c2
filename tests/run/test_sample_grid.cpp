#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#include <stb/stb_image.h>

#include "run/expect_error.h"
#include "run/sample_grid.h"
#include "support/temporary_folder.h"

namespace acgan {
namespace {

using test::expect_output_error;
using test::read_text;
using test::TemporaryFolder;
using test::write_text;

struct Decoded {
  int width = 0, height = 0, channels = 0;
  std::vector<std::uint8_t> pixels;
};

Decoded decode_png(const std::string& path) {
  Decoded decoded;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load(path.c_str(), &decoded.width, &decoded.height, &decoded.channels, 0),
      stbi_image_free);
  REQUIRE(pixels != nullptr);
  decoded.pixels.assign(pixels.get(),
                        pixels.get() + decoded.width * decoded.height * decoded.channels);
  return decoded;
}

std::vector<std::uint8_t> counting_pixels(std::size_t count) {
  std::vector<std::uint8_t> pixels(count);
  for (std::size_t i = 0; i < count; ++i) pixels[i] = static_cast<std::uint8_t>(1 + i * 7 % 255);
  return pixels;
}

TEST_CASE("a value becomes round(255 * clamp(x, 0, 1))") {
  CHECK(to_pixel(0.0f) == 0);
  CHECK(to_pixel(1.0f) == 255);
  CHECK(to_pixel(0.5f) == 128);
  CHECK(to_pixel(std::nextafter(0.5f, 0.0f)) == 127);
  CHECK(to_pixel(0.0019f) == 0);
  CHECK(to_pixel(0.0020f) == 1);
  CHECK(to_pixel(-0.25f) == 0);
  CHECK(to_pixel(7.0f) == 255);
  CHECK(to_pixel(std::numeric_limits<float>::quiet_NaN()) == 0);
  CHECK(to_pixel(std::numeric_limits<float>::infinity()) == 255);
  CHECK(to_pixel(-std::numeric_limits<float>::infinity()) == 0);
}

TEST_CASE("every pixel value survives the way to [0,1] and back") {
  for (int value = 0; value < 256; ++value) {
    CHECK(to_pixel(static_cast<float>(value) / 255.0f) == value);
  }
}

TEST_CASE("a grid puts every tile in its place, with two black pixels around") {
  const std::int64_t channels = GENERATE(1, 3);
  const std::int64_t rows = 2, columns = 3, height = 4, width = 5;
  const auto images =
      counting_pixels(static_cast<std::size_t>(rows * columns * height * width * channels));
  const Picture grid = make_grid(images, rows, columns, height, width, channels);
  REQUIRE(grid.height == (height + 2) * rows + 2);
  REQUIRE(grid.width == (width + 2) * columns + 2);
  REQUIRE(grid.channels == channels);

  std::int64_t wrong = 0;
  for (std::int64_t y = 0; y < grid.height; ++y) {
    for (std::int64_t x = 0; x < grid.width; ++x) {
      const std::int64_t row = (y - 2) / (height + 2), column = (x - 2) / (width + 2);
      const std::int64_t in_y = y - 2 - row * (height + 2), in_x = x - 2 - column * (width + 2);
      const bool inside = y >= 2 && x >= 2 && in_y < height && in_x < width;
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t tile = row * columns + column;
        const std::int64_t from = ((tile * height + in_y) * width + in_x) * channels + c;
        const int expected = inside ? images[static_cast<std::size_t>(from)] : 0;
        const std::int64_t at = (y * grid.width + x) * channels + c;
        wrong += grid.pixels[static_cast<std::size_t>(at)] != expected ? 1 : 0;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a PNG decodes to the same pixels, grey or RGB") {
  const TemporaryFolder folder;
  const int channels = GENERATE(1, 3);
  const Picture picture{.height = 7,
                        .width = 11,
                        .channels = channels,
                        .pixels = counting_pixels(static_cast<std::size_t>(77 * channels))};
  const std::string path = folder / "grid.png";
  write_png(path, picture);
  CHECK(folder.count() == 1);
  const Decoded decoded = decode_png(path);
  CHECK(decoded.width == 11);
  CHECK(decoded.height == 7);
  CHECK(decoded.channels == channels);
  CHECK(decoded.pixels == picture.pixels);
}

TEST_CASE("a PNG that cannot be written is an output error") {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  const Picture picture{.height = 1, .width = 1, .channels = 1, .pixels = {9}};
  expect_output_error([&] { write_png(folder / "file/a.png", picture); }, {folder / "file/a.png"});
  const Picture nothing{.height = 0, .width = 0, .channels = 1, .pixels = {}};
  expect_output_error([&] { write_png(folder / "empty.png", nothing); }, {"0 by 0"});
}

TEST_CASE("an .npy has the header of version 1.0 and the raw images") {
  const TemporaryFolder folder;
  const auto images = counting_pixels(2 * 3 * 5 * 3);
  write_npy(folder / "a.npy", images, 2, 3, 5, 3);
  const std::string file = read_text(folder / "a.npy");
  REQUIRE(file.size() > 64);
  CHECK(file.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  const auto low = static_cast<unsigned char>(file[8]);
  const auto high = static_cast<unsigned char>(file[9]);
  const std::size_t length = low + 256u * high;
  CHECK((10 + length) % 64 == 0);
  const std::string header = file.substr(10, length);
  CHECK(header.back() == '\n');
  CHECK(header.find("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 5, 3), }") == 0);
  CHECK(file.substr(10 + length) == std::string(images.begin(), images.end()));
}

}  // namespace
}  // namespace acgan
