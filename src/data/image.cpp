#include "data/image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "data/jpeg_segments.h"
#include "data/png_chunks.h"

namespace acgan {
namespace {

// A few kilobytes of PNG can inflate to gigabytes whatever dimensions they claim. No image within
// kMaxImagePixels needs a block above 64 Mi pixels of four 16-bit samples and a filter byte a row.
constexpr std::size_t kMaxDecoderBlock = std::size_t{640} << 20;

// Zeroed, because a JPEG that refers to tables it does not have is decoded with what is there.
void* allocate_block(std::size_t bytes) {
  return bytes <= kMaxDecoderBlock ? std::calloc(1, bytes) : nullptr;
}

void* reallocate_block(void* block, std::size_t bytes) {
  return bytes <= kMaxDecoderBlock ? std::realloc(block, bytes) : nullptr;
}

// A failed assertion within the decoder: hostile bytes must not end the program.
struct DecoderFault {};

}  // namespace
}  // namespace acgan

#define STBI_ASSERT(condition) ((condition) ? static_cast<void>(0) : throw acgan::DecoderFault())
#define STBI_MALLOC(bytes) acgan::allocate_block(bytes)
#define STBI_REALLOC(block, bytes) acgan::reallocate_block(block, bytes)
#define STBI_FREE(block) std::free(block)
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

#define STB_IMAGE_RESIZE_STATIC
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize.h>

namespace acgan {
namespace {

struct Extent {
  std::int64_t width = 0, height = 0;
};

std::uint64_t little_endian(std::span<const std::uint8_t> bytes, std::size_t offset,
                            std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | bytes[offset + i];
  return value;
}

// The decoder reads zeros behind the end of a BMP and calls the result an image.
bool is_truncated_bmp(std::span<const std::uint8_t> bytes, Extent extent) {
  constexpr std::size_t kHeaderBytes = 30;  // up to the bits a pixel
  if (bytes.size() < kHeaderBytes || bytes[0] != 'B' || bytes[1] != 'M') return false;
  const std::uint64_t pixels_offset = little_endian(bytes, 10, 4);
  const bool is_old_header = little_endian(bytes, 14, 4) == 12;
  const std::uint64_t bits = little_endian(bytes, is_old_header ? 24 : 28, 2);
  const std::uint64_t row_bytes = (static_cast<std::uint64_t>(extent.width) * bits + 31) / 32 * 4;
  return pixels_offset + row_bytes * static_cast<std::uint64_t>(extent.height) > bytes.size();
}

void check_extent(Extent extent, std::int64_t most_pixels, const std::string& path) {
  const bool is_sane =
      extent.width > 0 && extent.height > 0 && extent.width <= most_pixels / extent.height;
  if (!is_sane) {
    fail(ErrorKind::Data, "image '{}' has {}x{} pixels; 1 to {} million are read", path,
         extent.width, extent.height, most_pixels / 1000000);
  }
}

// The decoder does not say why it refuses a PNG of enormous size, so that is found out before.
void check_png_extent(std::span<const std::uint8_t> bytes, std::int64_t most_pixels,
                      const std::string& path) {
  constexpr std::string_view kSignature = "\x89PNG\r\n\x1A\n";
  constexpr std::size_t kExtentEnd = 24;
  if (bytes.size() < kExtentEnd ||
      std::memcmp(bytes.data(), kSignature.data(), kSignature.size()) != 0) {
    return;
  }
  const auto big_endian = [&](std::size_t offset) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | bytes[offset + i];
    return value;
  };
  check_extent({.width = big_endian(16), .height = big_endian(20)}, most_pixels, path);
}

// The image's size; throws where the file cannot hold an image that is worth decoding.
Extent inspect(std::span<const std::uint8_t> bytes, std::int64_t most_pixels,
               const std::string& path) {
  if (bytes.empty()) fail(ErrorKind::Data, "image '{}' is empty", path);
  check_png_extent(bytes, most_pixels, path);
  auto fault = find_png_fault(bytes);
  if (!fault) fault = find_jpeg_fault(bytes);
  if (fault) {
    fail(ErrorKind::Data, "image '{}' cannot be decoded: {}", path, *fault);
  }
  int width = 0, height = 0, channels = 0;
  if (stbi_info_from_memory(bytes.data(), static_cast<int>(bytes.size()), &width, &height,
                            &channels) == 0) {
    fail(ErrorKind::Data, "image '{}' cannot be decoded: PNG, JPEG or BMP was expected ({})", path,
         stbi_failure_reason());
  }
  // A BMP with its rows from top to bottom has a negative height.
  const Extent extent = {.width = width, .height = std::abs(std::int64_t{height})};
  check_extent(extent, most_pixels, path);
  if (is_truncated_bmp(bytes, extent)) {
    fail(ErrorKind::Data, "image '{}' ({}x{}) is truncated: its {} bytes do not hold all pixels",
         path, extent.width, extent.height, bytes.size());
  }
  return extent;
}

std::uint8_t on_white(std::uint8_t value, std::uint8_t alpha) {
  return static_cast<std::uint8_t>((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

struct Decoded {
  std::unique_ptr<stbi_uc, void (*)(void*)> pixels{nullptr, stbi_image_free};  // [H,W,C]
  int channels = 0;
  std::string_view reason;  // where there are no pixels
};

Decoded decode(std::span<const std::uint8_t> bytes, Extent extent) {
  Decoded decoded;
  int width = 0, height = 0;
  try {
    decoded.pixels.reset(stbi_load_from_memory(bytes.data(), static_cast<int>(bytes.size()), &width,
                                               &height, &decoded.channels, 0));
  } catch (const DecoderFault&) {
    decoded.reason = "inconsistent contents";
    return decoded;
  }
  if (decoded.pixels == nullptr) {
    decoded.reason = stbi_failure_reason();
  } else if (width != extent.width || height != extent.height) {
    decoded.pixels.reset();
    decoded.reason = "two sizes";
  }
  return decoded;
}

// One pixel of 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGB, alpha) samples to 1 or 3.
void convert_pixel(const std::uint8_t* from, int from_channels, std::uint8_t* to,
                   std::int64_t to_channels) {
  const bool has_color = from_channels >= 3;
  const std::uint8_t alpha = from_channels % 2 == 0 ? from[from_channels - 1] : std::uint8_t{255};
  const std::uint8_t red = on_white(from[0], alpha);
  const std::uint8_t green = has_color ? on_white(from[1], alpha) : red;
  const std::uint8_t blue = has_color ? on_white(from[2], alpha) : red;
  if (to_channels == 1) {
    to[0] = has_color ? luma(red, green, blue) : red;
  } else {
    to[0] = red;
    to[1] = green;
    to[2] = blue;
  }
}

}  // namespace

std::uint8_t luma(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  return static_cast<std::uint8_t>((77 * red + 150 * green + 29 * blue + 128) >> 8);
}

Image decode_image(std::span<const std::uint8_t> bytes, const std::string& path,
                   std::int64_t channels, std::int64_t most_pixels) {
  ACGAN_CHECK(channels == 1 || channels == 3);
  ACGAN_CHECK(bytes.size() <= std::size_t{1} << 30);  // the decoder counts in int
  const Extent extent = inspect(bytes, most_pixels, path);
  const Decoded decoded = decode(bytes, extent);
  if (decoded.pixels == nullptr) {
    fail(ErrorKind::Data, "image '{}' ({}x{}) cannot be decoded: it is damaged or truncated ({})",
         path, extent.width, extent.height, decoded.reason);
  }
  Image image{.height = extent.height, .width = extent.width, .channels = channels, .pixels = {}};
  const std::int64_t count = image.height * image.width;
  image.pixels.resize(static_cast<std::size_t>(count * channels));
  for (std::int64_t i = 0; i < count; ++i) {
    convert_pixel(decoded.pixels.get() + i * decoded.channels, decoded.channels,
                  image.pixels.data() + i * channels, channels);
  }
  return image;
}

void resample_square(const Image& image, PixelScale scale, std::int64_t side,
                     std::span<std::uint8_t> result) {
  const std::int64_t crop = std::min(image.height, image.width);
  const std::int64_t row_bytes = image.width * image.channels;
  ACGAN_CHECK(crop > 0 && side > 0);
  ACGAN_CHECK(result.size() == static_cast<std::size_t>(side * side * image.channels));
  const std::uint8_t* corner = image.pixels.data() + (image.height - crop) / 2 * row_bytes +
                               (image.width - crop) / 2 * image.channels;
  if (crop == side) {
    const std::int64_t result_row = side * image.channels;
    for (std::int64_t y = 0; y < side; ++y) {
      std::copy_n(corner + y * row_bytes, result_row, result.data() + y * result_row);
    }
    return;
  }
  const int done = stbir_resize_uint8_generic(
      corner, static_cast<int>(crop), static_cast<int>(crop), static_cast<int>(row_bytes),
      result.data(), static_cast<int>(side), static_cast<int>(side), 0,
      static_cast<int>(image.channels), STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP,
      crop > side ? STBIR_FILTER_BOX : STBIR_FILTER_TRIANGLE,
      scale == PixelScale::Srgb ? STBIR_COLORSPACE_SRGB : STBIR_COLORSPACE_LINEAR, nullptr);
  if (done == 0) fail(ErrorKind::Data, "no memory to resize an image of {}x{}", crop, crop);
}

}  // namespace acgan
