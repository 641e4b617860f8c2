#include "data/png_chunks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/format.h"

namespace acgan {
namespace {

constexpr std::array<std::uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
constexpr std::size_t kTypeBytes = 4;
constexpr std::size_t kFrameBytes = 12;  // length, type and check sum

constexpr std::array<std::uint32_t, 256> make_table() {
  constexpr std::uint32_t kPolynomial = 0xEDB88320;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1) * kPolynomial;
    table[byte] = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

std::uint32_t big_endian(std::span<const std::uint8_t> bytes) {
  std::uint32_t value = 0;
  for (const std::uint8_t byte : bytes.first(4)) value = value << 8 | byte;
  return value;
}

// Four letters; anything else in a damaged file is shown as question marks.
std::string type_of(std::span<const std::uint8_t> chunk) {
  std::string type;
  for (const std::uint8_t byte : chunk.subspan(4, kTypeBytes)) {
    const bool is_letter = (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
    type += is_letter ? static_cast<char>(byte) : '?';
  }
  return type;
}

}  // namespace

std::uint32_t png_checksum(std::span<const std::uint8_t> bytes) {
  std::uint32_t value = ~std::uint32_t{0};
  for (const std::uint8_t byte : bytes) value = value >> 8 ^ kTable[(value ^ byte) & 0xFF];
  return ~value;
}

std::optional<std::string> find_png_fault(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kSignature.size() ||
      !std::equal(kSignature.begin(), kSignature.end(), bytes.begin())) {
    return std::nullopt;
  }
  std::size_t offset = kSignature.size();
  while (bytes.size() - offset >= kFrameBytes) {
    const std::span<const std::uint8_t> chunk = bytes.subspan(offset);
    const std::size_t length = big_endian(chunk);
    const std::string type = type_of(chunk);
    if (length > chunk.size() - kFrameBytes) {
      return fmt::format("its chunk {} at byte {} is truncated: {} bytes of {} are there", type,
                         offset, chunk.size() - kFrameBytes, length);
    }
    const std::uint32_t stored = big_endian(chunk.subspan(kFrameBytes - 4 + length));
    if (png_checksum(chunk.subspan(4, kTypeBytes + length)) != stored) {
      return fmt::format("its chunk {} at byte {} is damaged: the check sum does not match", type,
                         offset);
    }
    if (type == "IEND") return std::nullopt;
    offset += kFrameBytes + length;
  }
  return fmt::format("it is truncated: the chunk IEND is missing at byte {}", offset);
}

}  // namespace acgan
