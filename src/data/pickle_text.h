#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace acgan {

// The texts of pickles, turned into plain bytes; nothing where they are malformed.

// A byte string as Python 2 shows it, in quotes: 'it\'s \x00'.
std::optional<std::vector<std::uint8_t>> from_python_literal(std::string_view literal);

// Latin-1 with \uXXXX and \UXXXXXXXX, as UTF-8.
std::optional<std::vector<std::uint8_t>> from_raw_unicode_escape(std::string_view line);

// UTF-8 whose characters are all below 256, one byte for each.
std::optional<std::vector<std::uint8_t>> latin1_from_utf8(std::span<const std::uint8_t> text);

}  // namespace acgan
