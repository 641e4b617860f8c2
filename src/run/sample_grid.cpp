#include "run/sample_grid.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstddef>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

#include "base/atomic_file.h"
#include "base/error.h"

namespace acgan {
namespace {

constexpr std::int64_t kBorder = 2;  // black pixels around and between tiles

void append_bytes(void* target, void* data, int size) {
  auto* const bytes = static_cast<std::vector<std::byte>*>(target);
  const auto* const first = static_cast<const std::byte*>(data);
  bytes->insert(bytes->end(), first, first + size);
}

}  // namespace

std::uint8_t to_pixel(float value) {
  if (std::isnan(value)) return 0;
  // In double the product is exact, so that only true halves are rounded as halves.
  const double clamped = std::clamp(static_cast<double>(value), 0.0, 1.0);
  return static_cast<std::uint8_t>(std::lround(255 * clamped));
}

Picture make_grid(std::span<const std::uint8_t> images, std::int64_t rows, std::int64_t columns,
                  std::int64_t height, std::int64_t width, std::int64_t channels) {
  ACGAN_CHECK(rows > 0 && columns > 0 && height > 0 && width > 0);
  ACGAN_CHECK(channels == 1 || channels == 3);
  const std::int64_t line = width * channels;  // bytes of one row of pixels of a tile
  ACGAN_CHECK(images.size() == static_cast<std::size_t>(rows * columns * height * line));

  Picture picture{.height = (height + kBorder) * rows + kBorder,
                  .width = (width + kBorder) * columns + kBorder,
                  .channels = channels,
                  .pixels = {}};
  const std::int64_t picture_line = picture.width * channels;
  picture.pixels.resize(static_cast<std::size_t>(picture.height * picture_line), 0);
  for (std::int64_t tile = 0; tile < rows * columns; ++tile) {
    const std::int64_t top = kBorder + tile / columns * (height + kBorder);
    const std::int64_t left = kBorder + tile % columns * (width + kBorder);
    for (std::int64_t y = 0; y < height; ++y) {
      std::copy_n(images.begin() + (tile * height + y) * line, line,
                  picture.pixels.begin() + (top + y) * picture_line + left * channels);
    }
  }
  return picture;
}

std::vector<std::byte> encode_png(const Picture& picture, const std::string& path) {
  ACGAN_CHECK(picture.channels == 1 || picture.channels == 3);
  const std::int64_t line = picture.width * picture.channels;
  ACGAN_CHECK(picture.pixels.size() == static_cast<std::size_t>(picture.height * line));
  // The encoder counts in int, and takes one byte more for each line.
  if (picture.height <= 0 || line <= 0 || picture.height > INT_MAX / 2 / (line + 1)) {
    fail(ErrorKind::Output,
         "cannot write {}: a picture of {} by {} pixels is outside what a PNG here can hold; take "
         "fewer rows or classes",
         path, picture.width, picture.height);
  }
  std::vector<std::byte> file;
  const int done = stbi_write_png_to_func(
      append_bytes, &file, static_cast<int>(picture.width), static_cast<int>(picture.height),
      static_cast<int>(picture.channels), picture.pixels.data(), static_cast<int>(line));
  if (done == 0) {
    fail(ErrorKind::Output, "cannot write {}: no memory to encode {} by {} pixels", path,
         picture.width, picture.height);
  }
  return file;
}

void write_png(const std::string& path, const Picture& picture) {
  write_file_atomically(path, encode_png(picture, path));
}

void write_npy(const std::string& path, std::span<const std::uint8_t> images, std::int64_t n,
               std::int64_t height, std::int64_t width, std::int64_t channels) {
  ACGAN_CHECK(n >= 0 && height >= 0 && width >= 0 && channels >= 0);
  ACGAN_CHECK(images.size() == static_cast<std::size_t>(n * height * width * channels));
  constexpr std::size_t kAlignment = 64;                // of the first image, as the format asks
  std::string header("\x93NUMPY\x01\x00\x00\x00", 10);  // magic, version 1.0, room for the length
  const std::size_t preamble = header.size();
  header += fmt::format("{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, {}, {}, {}), }}",
                        n, height, width, channels);
  const std::size_t whole = (header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.resize(whole - 1, ' ');
  header += '\n';
  const std::size_t length = whole - preamble;
  header[preamble - 2] = static_cast<char>(length & 0xFF);
  header[preamble - 1] = static_cast<char>(length >> 8);
  const std::array<std::span<const std::byte>, 2> pieces = {std::as_bytes(std::span(header)),
                                                            std::as_bytes(images)};
  write_file_atomically(path, pieces);
}

}  // namespace acgan
