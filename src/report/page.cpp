#include "report/page.h"

#include <cstdint>

#include "base/format.h"

namespace acgan {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #222; --back: #fff; --line: #d5d8dc; --soft: #f3f5f7; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --back: #16191d; --line: #3a3f46; --soft: #20252b; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
       max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right;
         white-space: nowrap; }
th { background: var(--soft); } .left { text-align: left; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; height: auto; }
.pixels { background: #fff; padding: .4rem; }
figcaption { font-size: .92rem; }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; font-size: .88rem; }
details { margin: .8rem 0; } summary { cursor: pointer; }
)";

// Length in bytes of the valid UTF-8 character at `at`; 0 where there is none.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 && first < 0xf5   ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return 0;
  }
  const bool is_overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool is_no_character =
      (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return is_overlong || is_no_character ? 0 : length;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    if (length == 0) {
      result += "\xef\xbf\xbd";
      ++i;
      continue;
    }
    const char c = text[i];
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') {
      result += text.substr(i, length);
    }
    i += length;
  }
  return result;
}

// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[group >> (18 - 6 * k) & 63u] : '=';
    }
  }
  return text;
}

std::string data_address(const char* type, std::string_view bytes) {
  return fmt::format("data:{};base64,{}", type, base64(bytes));
}

}  // namespace

Page::Page(const std::string& title) : title_(title) {
  body_ += fmt::format("<h1>{}</h1>\n", escaped(title));
}

void Page::heading(const std::string& text) {
  body_ += fmt::format("<h2>{}</h2>\n", escaped(text));
}

void Page::paragraph(const std::string& text) {
  body_ += fmt::format("<p>{}</p>\n", escaped(text));
}

void Page::list(const std::vector<std::string>& lines) {
  body_ += "<ul>\n";
  for (const std::string& line : lines) body_ += fmt::format("<li>{}</li>\n", escaped(line));
  body_ += "</ul>\n";
}

void Page::table(const std::vector<std::string>& heading,
                 const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  const auto add_row = [&](const std::vector<std::string>& cells, const char* tag) {
    body_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      body_ += fmt::format("<{0}{1}>{2}</{0}>", tag, i < left ? " class=\"left\"" : "",
                           escaped(cells[i]));
    }
    body_ += "</tr>\n";
  };
  body_ += "<div class=\"scroll\"><table>\n<thead>";
  add_row(heading, "th");
  body_ += "</thead>\n<tbody>\n";
  for (const auto& row : rows) add_row(row, "td");
  body_ += "</tbody></table></div>\n";
}

void Page::figure(std::string_view light_svg, std::string_view dark_svg,
                  const std::string& caption) {
  body_ += fmt::format(
      "<figure><picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{}\">"
      "<img src=\"{}\" alt=\"{}\"></picture>\n<figcaption>{}</figcaption></figure>\n",
      data_address("image/svg+xml", dark_svg), data_address("image/svg+xml", light_svg),
      escaped(caption), escaped(caption));
}

void Page::picture(std::string_view content, const std::string& caption) {
  body_ += fmt::format(
      "<figure><img class=\"pixels\" src=\"{}\" alt=\"{}\">\n<figcaption>{}</figcaption>"
      "</figure>\n",
      data_address(content.starts_with("RIFF") ? "image/webp" : "image/png", content),
      escaped(caption), escaped(caption));
}

void Page::code(const std::string& text) { body_ += fmt::format("<pre>{}</pre>\n", escaped(text)); }

void Page::details(const std::string& summary, const std::string& text) {
  body_ += fmt::format("<details><summary>{}</summary><pre>{}</pre></details>\n", escaped(summary),
                       escaped(text));
}

std::string Page::html() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped(title_), kStyle, body_);
}

}  // namespace acgan
