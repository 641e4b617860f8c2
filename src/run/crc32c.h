#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace acgan {

// The cyclic redundancy check with Castagnoli's polynomial (RFC 3720, appendix B.4).
inline std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = [] {
    constexpr std::uint32_t kPolynomial = 0x82F63B78u;  // lowest power first
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
      std::uint32_t rest = byte;
      for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1u) != 0 ? kPolynomial : 0u);
      table[byte] = rest;
    }
    return table;
  }();
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const std::byte byte : bytes) {
    crc = crc >> 8 ^ kTable[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFFu];
  }
  return ~crc;
}

}  // namespace acgan
