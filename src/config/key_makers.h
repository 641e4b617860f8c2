#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "config/config_keys.h"

// One maker for each type of key, for the table in config_keys.cpp. `at` maps a Config to the
// member that the key sets.
namespace acgan::key_makers {

struct Name {
  std::string path, meaning;
};

// A maker's common part: `read` turns a ConfigValue into what `at` holds, or refuses by returning
// nothing; `write` turns it back into YAML.
template <typename At, typename Read, typename Write>
ConfigKey make_key(const Name& name, std::string allowed, At at, Read read, Write write) {
  auto set = [=](Config& config, const ConfigValue& value) -> std::optional<Refusal> {
    auto result = read(value);
    if (!result) return refusal(value);
    at(config) = *std::move(result);
    return std::nullopt;
  };
  auto get = [=](const Config& config) -> std::string { return write(at(config)); };
  return {name.path, name.meaning, std::move(allowed), set, get};
}

struct Whole {
  std::int64_t low, high;
  std::int64_t multiple_of = 1;
};

template <typename At>
ConfigKey integer(const Name& name, At at, Whole range) {
  const std::string type =
      range.multiple_of == 1 ? "an integer" : fmt::format("a multiple of {}", range.multiple_of);
  return make_key(
      name, fmt::format("{} from {} to {}", type, range.low, range.high), at,
      [=](const ConfigValue& value) -> std::optional<std::int64_t> {
        const auto number = number_from<std::int64_t>(value);
        if (!number || *number < range.low || *number > range.high) return std::nullopt;
        return *number % range.multiple_of == 0 ? number : std::nullopt;
      },
      [](std::int64_t number) { return fmt::format("{}", number); });
}

enum class Bound { Closed, Open };

struct Range {
  double low, high = 1e30;  // well inside the 32-bit floats that settings are used as
  Bound low_bound = Bound::Closed, high_bound = Bound::Closed;

  bool contains(double number) const {
    if (number < low || number > high) return false;
    // Rounded to 32 bits a number may reach the bound: 0.999999999 is 1 there.
    const auto rounded = static_cast<double>(static_cast<float>(number));
    return (low_bound == Bound::Closed || rounded > low) &&
           (high_bound == Bound::Closed || rounded < high);
  }
  std::string text() const {
    return fmt::format("a number {} {} and {} {}",
                       low_bound == Bound::Open ? "above" : "of at least", low,
                       high_bound == Bound::Open ? "below" : "at most", high);
  }
};

inline constexpr Range kPositive{.low = 0, .low_bound = Bound::Open};
inline constexpr Range kScale{.low = 1e-30};
inline constexpr Range kBeta{.low = 0, .high = 1, .high_bound = Bound::Open};

inline std::optional<double> number_in(const Range& range, const ConfigValue& value) {
  const auto number = number_from<double>(value);
  return number && range.contains(*number) ? number : std::nullopt;
}

template <typename At>
ConfigKey number(const Name& name, At at, const Range& range) {
  return make_key(
      name, range.text(), at, [=](const ConfigValue& value) { return number_in(range, value); },
      [](double number) { return fmt::format("{}", number); });
}

inline constexpr const char* kDuration = "minutes from 0 to 1e7, or with a unit (90s, 7m, 1.5h)";

inline std::optional<double> minutes_in(const ConfigValue& value) {
  return value.is_text() ? minutes_from(value.text) : std::nullopt;
}

template <typename At>
ConfigKey duration(const Name& name, At at) {
  return make_key(name, kDuration, at, minutes_in,
                  [](double minutes) { return fmt::format("{}", minutes); });
}

enum class Empty { Allowed, Refused };

template <typename At>
ConfigKey text(const Name& name, At at, Empty empty) {
  return make_key(
      name, empty == Empty::Allowed ? "text" : "text that is not empty", at,
      [=](const ConfigValue& value) -> std::optional<std::string> {
        if (!value.is_text()) return std::nullopt;
        if (empty == Empty::Refused && value.text.empty()) return std::nullopt;
        return value.text;
      },
      [](const std::string& text) { return yaml_quoted(text); });
}

template <typename Value>
using Spellings = std::vector<std::pair<std::string, Value>>;

template <typename Value, typename At>
ConfigKey choice(const Name& name, At at, Spellings<Value> spellings) {
  std::vector<std::string> names;
  for (const auto& [spelling, meaning] : spellings) names.push_back(spelling);
  return make_key(
      name, "one of " + comma_list(names), at,
      [=](const ConfigValue& value) -> std::optional<Value> {
        for (const auto& [spelling, meaning] : spellings) {
          if (value.is_text() && value.text == spelling) return meaning;
        }
        return std::nullopt;
      },
      [=](const Value& value) {
        for (const auto& [spelling, meaning] : spellings) {
          if (meaning == value) return spelling;
        }
        check_failed("every value has a spelling", __FILE__, __LINE__);
      });
}

// ---- lists refuse single items, and say which

template <typename At>
ConfigKey duration_list(const Name& name, At at) {
  auto set = [=](Config& config, const ConfigValue& value) -> std::optional<Refusal> {
    if (value.form != ConfigValue::Form::List) return refusal(value);
    std::vector<double> list;
    for (const ConfigValue& item : value.items) {
      const auto minutes = minutes_in(item);
      if (!minutes) return refusal(item);
      list.push_back(*minutes);
    }
    at(config) = std::move(list);
    return std::nullopt;
  };
  auto get = [=](const Config& config) {
    std::vector<std::string> numbers;
    for (const double minutes : at(config)) numbers.push_back(fmt::format("{}", minutes));
    return fmt::format("[{}]", comma_list(numbers));
  };
  return {name.path, name.meaning, fmt::format("a list [..] of {}", kDuration), set, get};
}

template <typename At>
ConfigKey name_list(const Name& name, At at) {
  auto set = [=](Config& config, const ConfigValue& value) -> std::optional<Refusal> {
    if (value.form != ConfigValue::Form::List) return refusal(value);
    std::vector<std::string> names;
    for (const ConfigValue& item : value.items) {
      if (!item.is_text() || item.text.empty()) return refusal(item);
      if (std::find(names.begin(), names.end(), item.text) != names.end()) {
        return Refusal{describe(item) + " twice", item.line};
      }
      names.push_back(item.text);
    }
    at(config) = std::move(names);
    return std::nullopt;
  };
  auto get = [=](const Config& config) {
    std::vector<std::string> quoted;
    for (const std::string& entry : at(config)) quoted.push_back(yaml_quoted(entry));
    return fmt::format("[{}]", comma_list(quoted));
  };
  return {name.path, name.meaning, "a list [..] of names, each once", set, get};
}

}  // namespace acgan::key_makers
