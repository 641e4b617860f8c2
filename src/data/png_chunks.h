#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace acgan {

// What is wrong with the chunks of a PNG (W3C PNG, 5.3): one whose check sum does not match, or
// one that the file ends in. None where they are whole, and where the bytes are no PNG. The decoder
// looks at neither.
std::optional<std::string> find_png_fault(std::span<const std::uint8_t> bytes);

// The check sum of a chunk: CRC-32 (ISO 3309) over its type and data.
std::uint32_t png_checksum(std::span<const std::uint8_t> bytes);

}  // namespace acgan
