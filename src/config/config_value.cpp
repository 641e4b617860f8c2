#include "config/config_value.h"

#include "base/format.h"

namespace acgan {

std::string describe(const ConfigValue& value) {
  constexpr std::size_t kShown = 60;
  const std::string text =
      value.text.size() <= kShown ? value.text : value.text.substr(0, kShown) + "...";
  switch (value.form) {
    case ConfigValue::Form::Nothing:
      return "nothing";
    case ConfigValue::Form::Plain:
      return fmt::format("'{}'", text);
    case ConfigValue::Form::Quoted:
      return fmt::format("the quoted text '{}'", text);
    case ConfigValue::Form::List:
      return "a list";
    case ConfigValue::Form::Map:
      return "a map";
  }
  return "something else";
}

Refusal refusal(const ConfigValue& value) { return {describe(value), value.line}; }

std::optional<double> minutes_from(std::string_view text) {
  const char unit = text.empty() ? '\0' : text.back();
  if (unit == 's' || unit == 'm' || unit == 'h') text.remove_suffix(1);
  const auto number = number_from<double>(text);
  if (!number || *number < 0) return std::nullopt;
  // Division, so that 90s is exactly 1.5.
  const double minutes = unit == 's' ? *number / 60 : unit == 'h' ? *number * 60 : *number;
  return minutes <= kLongestMinutes ? std::optional(minutes) : std::nullopt;
}

std::string comma_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::string yaml_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace acgan
