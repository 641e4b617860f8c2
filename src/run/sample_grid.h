#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace acgan {

// Pixels of one picture, row-major, interleaved channels (1 or 3).
struct Picture {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> pixels;
};

// value = round(255 * clamp(x, 0, 1)), NaN as 0: no scaling per grid.
std::uint8_t to_pixel(float value);

// Tiles rows * columns images [rows*columns,H,W,C] (row by row) with 2 black pixels around and
// between them: (H+2)*rows+2 by (W+2)*columns+2.
Picture make_grid(std::span<const std::uint8_t> images, std::int64_t rows, std::int64_t columns,
                  std::int64_t height, std::int64_t width, std::int64_t channels);

// PNG, grey for one channel, RGB for three. Throws Error{Output}, with `path` for where it was to
// go.
std::vector<std::byte> encode_png(const Picture& picture, const std::string& path);
// The same to a file, atomically.
void write_png(const std::string& path, const Picture& picture);

// NumPy .npy version 1.0, uint8, shape [N,H,W,C]; atomically. Throws Error{Output}.
void write_npy(const std::string& path, std::span<const std::uint8_t> images, std::int64_t n,
               std::int64_t height, std::int64_t width, std::int64_t channels);

}  // namespace acgan
