#include "data/pickle_text.h"

#include <charconv>
#include <cstddef>

namespace acgan {
namespace {

using Bytes = std::vector<std::uint8_t>;

// The number that begins `text`, in exactly `digits` hexadecimal digits.
std::optional<std::uint32_t> hexadecimal(std::string_view text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  std::uint32_t value = 0;
  const char* const end = text.data() + digits;
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

void append_utf8(std::uint32_t code, Bytes& bytes) {
  const auto tail = [&](int shift) {
    bytes.push_back(static_cast<std::uint8_t>(0x80 | (code >> shift & 0x3F)));
  };
  if (code < 0x80) {
    bytes.push_back(static_cast<std::uint8_t>(code));
  } else if (code < 0x800) {
    bytes.push_back(static_cast<std::uint8_t>(0xC0 | code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    bytes.push_back(static_cast<std::uint8_t>(0xE0 | code >> 12));
    tail(6);
    tail(0);
  } else {
    bytes.push_back(static_cast<std::uint8_t>(0xF0 | code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// What the letter behind a backslash stands for.
std::optional<std::uint8_t> simple_escape(char letter) {
  switch (letter) {
    case '\\':
    case '\'':
    case '"':
      return static_cast<std::uint8_t>(letter);
    case 'n':
      return std::uint8_t{'\n'};
    case 'r':
      return std::uint8_t{'\r'};
    case 't':
      return std::uint8_t{'\t'};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Bytes> from_python_literal(std::string_view literal) {
  const bool is_quoted = literal.size() >= 2 && literal.front() == literal.back() &&
                         (literal.front() == '\'' || literal.front() == '"');
  if (!is_quoted) return std::nullopt;
  literal = literal.substr(1, literal.size() - 2);
  Bytes bytes;
  while (!literal.empty()) {
    const char letter = literal.front();
    literal.remove_prefix(1);
    if (letter != '\\') {
      bytes.push_back(static_cast<std::uint8_t>(letter));
      continue;
    }
    if (literal.empty()) return std::nullopt;
    const char kind = literal.front();
    literal.remove_prefix(1);
    if (kind == 'x') {
      const auto value = hexadecimal(literal, 2);
      if (!value) return std::nullopt;
      bytes.push_back(static_cast<std::uint8_t>(*value));
      literal.remove_prefix(2);
    } else if (const auto value = simple_escape(kind)) {
      bytes.push_back(*value);
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

std::optional<Bytes> from_raw_unicode_escape(std::string_view line) {
  constexpr std::uint32_t kLastCode = 0x10FFFF;
  Bytes bytes;
  while (!line.empty()) {
    const bool is_escape =
        line.size() >= 2 && line[0] == '\\' && (line[1] == 'u' || line[1] == 'U');
    if (!is_escape) {
      append_utf8(static_cast<std::uint8_t>(line.front()), bytes);
      line.remove_prefix(1);
      continue;
    }
    const std::size_t digits = line[1] == 'u' ? 4 : 8;
    const auto code = hexadecimal(line.substr(2), digits);
    if (!code || *code > kLastCode) return std::nullopt;
    append_utf8(*code, bytes);
    line.remove_prefix(2 + digits);
  }
  return bytes;
}

std::optional<Bytes> latin1_from_utf8(std::span<const std::uint8_t> text) {
  Bytes bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] < 0x80) {
      bytes.push_back(text[i]);
      continue;
    }
    const bool is_pair =
        (text[i] == 0xC2 || text[i] == 0xC3) && i + 1 < text.size() && (text[i + 1] & 0xC0) == 0x80;
    if (!is_pair) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>((text[i] & 0x03) << 6 | (text[i + 1] & 0x3F)));
    ++i;
  }
  return bytes;
}

}  // namespace acgan
