#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace acgan {

// A value as it was written, before a key gives it a type.
struct ConfigValue {
  enum class Form { Nothing, Plain, Quoted, List, Map };
  Form form = Form::Nothing;
  std::string text;                // of Plain and Quoted
  std::vector<ConfigValue> items;  // of List
  int line = 0;                    // from 1

  bool is_text() const { return form == Form::Plain || form == Form::Quoted; }
};

// Why a key does not take a value: what was found, and in which line.
struct Refusal {
  std::string found;
  int line = 0;
};

// "'abc'", "a list", ... for error messages; long text is cut.
std::string describe(const ConfigValue& value);
Refusal refusal(const ConfigValue& value);

// The whole text as a finite number, or nothing: no blanks, no hexadecimal, integers without point.
template <typename Number>
std::optional<Number> number_from(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc{} || stop != end) return std::nullopt;
  if constexpr (std::floating_point<Number>) {
    if (!std::isfinite(number)) return std::nullopt;
  }
  return number;
}

// As above, for a plain (unquoted) value.
template <typename Number>
std::optional<Number> number_from(const ConfigValue& value) {
  if (value.form != ConfigValue::Form::Plain) return std::nullopt;
  return number_from<Number>(std::string_view(value.text));
}

// "90s", "7m", "1.5h" or a plain number of minutes -> minutes from 0 to kLongestMinutes; nothing
// for any other text.
inline constexpr double kLongestMinutes = 1e7;  // 19 years
std::optional<double> minutes_from(std::string_view text);

// "a, b, c".
std::string comma_list(const std::vector<std::string>& names);

// A YAML scalar on one line that reads back as exactly this text, whatever is in it.
std::string yaml_quoted(std::string_view text);

}  // namespace acgan
