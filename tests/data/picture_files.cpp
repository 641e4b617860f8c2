#include "data/picture_files.h"

#include <algorithm>
#include <span>

#include "data/png_chunks.h"

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

namespace acgan::test {
namespace {

void append_bytes(void* context, void* data, int size) {
  auto* bytes = static_cast<Bytes*>(context);
  const auto* begin = static_cast<const std::uint8_t*>(data);
  bytes->insert(bytes->end(), begin, begin + size);
}

void append_big_endian(std::uint32_t value, Bytes& bytes) {
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

void append_chunk(const std::string& type, const Bytes& data, Bytes& bytes) {
  append_big_endian(static_cast<std::uint32_t>(data.size()), bytes);
  const std::size_t begin = bytes.size();
  bytes.insert(bytes.end(), type.begin(), type.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  append_big_endian(png_checksum(std::span(bytes).subspan(begin)), bytes);
}

// The rest of a PNG of one row, stored without compression.
void append_row(const Bytes& row, Bytes& bytes) {
  const auto length = static_cast<std::uint8_t>(row.size() + 1);
  Bytes stored = {0x78, 0x01, 0x01, length, 0, static_cast<std::uint8_t>(~length), 0xFF, 0};
  stored.insert(stored.end(), row.begin(), row.end());
  stored.insert(stored.end(), 4, 0);  // the check sum of the pixels, which nobody reads
  append_chunk("IDAT", stored, bytes);
  append_chunk("IEND", {}, bytes);
}

}  // namespace

Bytes png(const Picture& picture) {
  Bytes bytes;
  stbi_write_png_to_func(append_bytes, &bytes, picture.width, picture.height, picture.channels,
                         picture.pixels.data(), 0);
  return bytes;
}

Bytes jpeg(const Picture& picture) {
  Bytes bytes;
  stbi_write_jpg_to_func(append_bytes, &bytes, picture.width, picture.height, picture.channels,
                         picture.pixels.data(), 95);
  return bytes;
}

Bytes bmp(const Picture& picture) {
  Bytes bytes;
  stbi_write_bmp_to_func(append_bytes, &bytes, picture.width, picture.height, picture.channels,
                         picture.pixels.data());
  return bytes;
}

Picture plain(int width, int height, const Bytes& color) {
  Picture picture{width, height, static_cast<int>(color.size()), {}};
  for (int i = 0; i < width * height; ++i) {
    picture.pixels.insert(picture.pixels.end(), color.begin(), color.end());
  }
  return picture;
}

Bytes with_checksums(Bytes bytes) {
  constexpr std::size_t kSignature = 8, kFrame = 12;
  if (bytes.size() < kSignature || bytes[1] != 'P') return bytes;
  for (std::size_t begin = kSignature; begin + kFrame <= bytes.size();) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | bytes[begin + i];
    if (length > bytes.size() - begin - kFrame) break;
    Bytes sum;
    append_big_endian(png_checksum(std::span(bytes).subspan(begin + 4, 4 + length)), sum);
    std::copy(sum.begin(), sum.end(), bytes.begin() + static_cast<long>(begin + 8 + length));
    begin += kFrame + length;
  }
  return bytes;
}

Bytes png_header(std::uint32_t width, std::uint32_t height, int depth, int color_type) {
  Bytes bytes = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  Bytes header;
  append_big_endian(width, header);
  append_big_endian(height, header);
  header.push_back(static_cast<std::uint8_t>(depth));
  header.push_back(static_cast<std::uint8_t>(color_type));
  header.insert(header.end(), {0, 0, 0});
  append_chunk("IHDR", header, bytes);
  return bytes;
}

Bytes png_16_bit(const std::vector<std::uint16_t>& values) {
  Bytes bytes = png_header(static_cast<std::uint32_t>(values.size()), 1, 16, 0);
  Bytes row;
  for (const std::uint16_t value : values) {
    row.push_back(static_cast<std::uint8_t>(value >> 8));
    row.push_back(static_cast<std::uint8_t>(value));
  }
  append_row(row, bytes);
  return bytes;
}

Bytes png_palette(const Bytes& palette, const Bytes& indices) {
  Bytes bytes = png_header(static_cast<std::uint32_t>(indices.size()), 1, 8, 3);
  append_chunk("PLTE", palette, bytes);
  append_row(indices, bytes);
  return bytes;
}

}  // namespace acgan::test
