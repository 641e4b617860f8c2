#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace acgan {

// Walks a JPEG from marker to marker. What the decoder takes no offence at is found here: data that
// ends before the end marker (it decodes to grey), and Huffman tables of more than 256 symbols
// (Debian 12's decoder writes them past its own tables); and CMYK, whose colours it would guess.
// Returns what is wrong, nothing where the bytes are no JPEG.
std::optional<std::string_view> find_jpeg_fault(std::span<const std::uint8_t> bytes);

}  // namespace acgan
