#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/bytes.h"

// Image files for tests and fuzz targets.
namespace acgan::test {

struct Picture {
  int width, height, channels;
  Bytes pixels;  // [H,W,C]
};

Bytes png(const Picture& picture);
Bytes jpeg(const Picture& picture);
Bytes bmp(const Picture& picture);

// All pixels of this colour, which has as many channels as it has bytes.
Picture plain(int width, int height, const Bytes& color);

// A damaged PNG as its damaged encoder would have written it: with check sums that match.
Bytes with_checksums(Bytes bytes);

// A PNG header that claims this size, as an image bomb does.
Bytes png_header(std::uint32_t width, std::uint32_t height, int depth, int color_type);

// A grey 16-bit PNG of one row, stored without compression.
Bytes png_16_bit(const std::vector<std::uint16_t>& values);

// A PNG of one row of indices into a palette of RGB colours.
Bytes png_palette(const Bytes& palette, const Bytes& indices);

}  // namespace acgan::test
