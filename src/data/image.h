#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace acgan {

// Larger images are refused: before memory is spent on them, and because nobody trains on them.
inline constexpr std::int64_t kMaxImagePixels = std::int64_t{64} << 20;

struct Image {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> pixels;  // [H,W,C]
};

// Decodes PNG, JPEG or BMP, told apart by content, to 1 (grey) or 3 (RGB) channels. 16-bit samples
// keep their upper 8 bits; transparent pixels are laid on white, the usual page colour. Throws
// Error{Data} naming `path` and the reason.
Image decode_image(std::span<const std::uint8_t> bytes, const std::string& path,
                   std::int64_t channels, std::int64_t most_pixels = kMaxImagePixels);

// What pixel values mean when they are averaged: light as displays encode it, or plain amounts.
enum class PixelScale { Srgb, Linear };

// The largest centred square of `image`, resampled to `side` x `side` pixels in `result`
// [side,side,C]. Shrinking averages areas: unlike kernels with negative lobes that cannot ring
// around hard edges. Enlarging interpolates linearly.
void resample_square(const Image& image, PixelScale scale, std::int64_t side,
                     std::span<std::uint8_t> result);

// 8-bit RGB to grey with the weights of ITU-R BT.601.
std::uint8_t luma(std::uint8_t red, std::uint8_t green, std::uint8_t blue);

}  // namespace acgan
