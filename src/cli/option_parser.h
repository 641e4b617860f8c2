#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "config/config_keys.h"
#include "config/config_value.h"

namespace CLI {
class App;
}

namespace acgan {

using Arguments = std::vector<std::string>;

// One command's options: CLI11 with our habits. The last of a repeated option wins.
class OptionParser {
 public:
  OptionParser(const std::string& command, const std::string& description);
  ~OptionParser();
  OptionParser(const OptionParser&) = delete;
  OptionParser& operator=(const OptionParser&) = delete;

  void value(const std::string& flag, const std::string& label, const std::string& description,
             std::optional<std::string>& target);
  void values(const std::string& flag, const std::string& label, const std::string& description,
              Arguments& target);
  // One option with any number of values behind it.
  void list(const std::string& flag, const std::string& label, const std::string& description,
            Arguments& target);
  void flag(const std::string& flag, const std::string& description, bool& target);
  void footer(const std::string& text);

  // The help text, when it was asked for.
  std::optional<PrintCommand> parse(Arguments arguments);

  [[noreturn]] void reject(const std::string& reason) const;

  template <typename Number>
  Number checked_number(const std::string& option, const std::string& text, Number low,
                        Number high) const {
    const auto number = number_from<Number>(text);
    if (!number || *number < low || *number > high) {
      reject(fmt::format("{} must be {} from {} to {}, found '{}'", option,
                         std::integral<Number> ? "an integer" : "a number", low, high, text));
    }
    return *number;
  }

 private:
  [[noreturn]] void reject_extra(const std::string& extra) const;

  std::string command_;
  std::unique_ptr<CLI::App> app_;
};

// How the text of an option becomes YAML.
enum class ValueForm { Yaml, Text, List, Flag };  // Flag: takes no value, sets true

// An option that sets a config key.
struct ConfigOption {
  const char* flag = nullptr;
  const char* label = nullptr;
  const char* key = nullptr;
  ValueForm form = ValueForm::Yaml;
};

// A command's options that set config keys, and --set for any of them.
class ConfigOptions {
 public:
  ConfigOptions(OptionParser& parser, std::span<const ConfigOption> options);
  ConfigOptions(const ConfigOptions&) = delete;
  ConfigOptions& operator=(const ConfigOptions&) = delete;

  // After parsing; in the order in which they take effect.
  std::vector<ConfigOverride> overrides() const;

 private:
  const OptionParser& parser_;
  std::span<const ConfigOption> options_;
  std::vector<std::optional<std::string>> values_;
  std::deque<bool> flags_;  // of the options that take no value
  Arguments settings_;
};

// Meaning, allowed values and default of a key, for --help.
std::string describe_key(const ConfigKey& key);
Arguments split_at_commas(const std::string& list);

}  // namespace acgan
