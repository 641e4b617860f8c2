#include "data/jpeg_segments.h"

#include <cstddef>

namespace acgan {
namespace {

constexpr std::uint8_t kHuffmanTables = 0xC4;
constexpr std::uint8_t kStartOfImage = 0xD8;
constexpr std::uint8_t kEndOfImage = 0xD9;

constexpr std::string_view kTruncated = "it is truncated, its end is missing";

// Markers without a segment, and what stands for a plain 0xFF byte within compressed data.
bool is_bare(std::uint8_t marker) {
  return marker <= 0x01 || (marker >= 0xD0 && marker <= kStartOfImage);
}

// One or more tables: class and number, how many codes there are of each of 16 lengths, symbols.
bool are_sound_tables(std::span<const std::uint8_t> segment) {
  constexpr std::size_t kHeaderBytes = 17;
  constexpr std::size_t kMaxSymbols = 256;
  while (segment.size() >= kHeaderBytes) {
    std::size_t symbols = 0;
    for (const std::uint8_t codes : segment.subspan(1, kHeaderBytes - 1)) symbols += codes;
    if (symbols > kMaxSymbols || symbols > segment.size() - kHeaderBytes) return false;
    segment = segment.subspan(kHeaderBytes + symbols);
  }
  return segment.empty();
}

// A frame header says how many colour components follow: SOF0 to SOF15 without the three markers
// among them that mean something else.
bool is_frame_header(std::uint8_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != kHuffmanTables && marker != 0xC8 &&
         marker != 0xCC;
}

bool has_four_components(std::span<const std::uint8_t> segment) {
  constexpr std::size_t kComponents = 5;  // behind precision, height and width
  return segment.size() > kComponents && segment[kComponents] == 4;
}

// The first marker in `bytes`, which are cut to what follows it; 0 where there is none. Compressed
// data and padding are stepped over.
std::uint8_t next_marker(std::span<const std::uint8_t>& bytes) {
  std::size_t i = 0;
  while (i < bytes.size() && bytes[i] != 0xFF) ++i;
  while (i < bytes.size() && bytes[i] == 0xFF) ++i;  // any number of fill bytes
  if (i == bytes.size()) {
    bytes = {};
    return 0;
  }
  const std::uint8_t marker = bytes[i];
  bytes = bytes.subspan(i + 1);
  return marker;
}

}  // namespace

std::optional<std::string_view> find_jpeg_fault(std::span<const std::uint8_t> bytes) {
  // The decoder takes any number of fill bytes before the first marker, too.
  if (bytes.empty() || bytes[0] != 0xFF || next_marker(bytes) != kStartOfImage) return std::nullopt;
  while (!bytes.empty()) {
    const std::uint8_t marker = next_marker(bytes);
    if (marker == kEndOfImage) return std::nullopt;
    if (is_bare(marker)) continue;
    const std::size_t length = bytes.size() < 2 ? 0 : std::size_t{bytes[0]} << 8 | bytes[1];
    if (length < 2 || length > bytes.size()) return kTruncated;
    if (marker == kHuffmanTables && !are_sound_tables(bytes.subspan(2, length - 2))) {
      return "it has a damaged Huffman table";
    }
    if (is_frame_header(marker) && has_four_components(bytes.subspan(2, length - 2))) {
      return "it is a CMYK JPEG (four colour components), whose colours need a profile; save it as "
             "RGB";
    }
    bytes = bytes.subspan(length);
  }
  return kTruncated;
}

}  // namespace acgan
