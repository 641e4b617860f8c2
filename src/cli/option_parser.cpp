#include "cli/option_parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "config/nearest_name.h"

namespace acgan {

namespace {

std::string as_yaml(const std::string& text, ValueForm form) {
  switch (form) {
    case ValueForm::Yaml:
      return text;
    case ValueForm::Text:
      return yaml_quoted(text);
    case ValueForm::List:
      return "[" + text + "]";
    case ValueForm::Flag:
      break;
  }
  return text;
}

// Breaks text into lines of at most `width` characters, as far as blanks allow.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string result, line;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      result += line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return result + line;
}

constexpr std::size_t kNameColumn = 34, kTextColumn = 64;
constexpr int kLongestList = 1000;

std::string key_table() {
  std::string table = "Config keys, as --set takes them (YAML nests them at the dots):\n";
  for (const ConfigKey& key : config_keys()) {
    std::string text = wrapped(describe_key(key), kTextColumn);
    const std::string indent = "\n" + std::string(kNameColumn, ' ');
    for (std::size_t at = text.find('\n'); at != std::string::npos;
         at = text.find('\n', at + indent.size())) {
      text.replace(at, 1, indent);
    }
    table += fmt::format("  {:<31} {}\n", key.path, text);
  }
  return table;
}

ConfigOverride setting_override(const std::string& setting, const OptionParser& parser) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    parser.reject(fmt::format("--set: expected KEY=VALUE, found '{}'", setting));
  }
  const std::string key = setting.substr(0, equals);
  return {.source = "--set " + key, .key = key, .value = setting.substr(equals + 1)};
}

}  // namespace

OptionParser::OptionParser(const std::string& command, const std::string& description)
    : command_(command), app_(std::make_unique<CLI::App>(description, "acgan-train " + command)) {
  app_->get_formatter()->column_width(kNameColumn);
  app_->set_help_flag("-h,--help", "this text");
  app_->allow_extras();  // so that the message about them is ours
}

OptionParser::~OptionParser() = default;

void OptionParser::value(const std::string& flag, const std::string& label,
                         const std::string& description, std::optional<std::string>& target) {
  app_->add_option(flag, target, wrapped(description, kTextColumn))
      ->option_text(label)
      ->type_name(label)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void OptionParser::values(const std::string& flag, const std::string& label,
                          const std::string& description, Arguments& target) {
  app_->add_option(flag, target, wrapped(description, kTextColumn))
      ->option_text(label)
      ->type_name(label)
      ->allow_extra_args(false);
}

void OptionParser::list(const std::string& flag, const std::string& label,
                        const std::string& description, Arguments& target) {
  app_->add_option(flag, target, wrapped(description, kTextColumn))
      ->option_text(label)
      ->type_name(label)
      ->expected(1, kLongestList);
}

void OptionParser::flag(const std::string& flag, const std::string& description, bool& target) {
  app_->add_flag(flag, target, wrapped(description, kTextColumn));
}

void OptionParser::footer(const std::string& text) { app_->footer(text); }

std::optional<PrintCommand> OptionParser::parse(Arguments arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return PrintCommand{app_->help()};
  } catch (const CLI::ParseError& error) {
    reject(error.what());
  }
  if (const Arguments extras = app_->remaining(); !extras.empty()) reject_extra(extras.front());
  return std::nullopt;
}

void OptionParser::reject(const std::string& reason) const {
  fail(ErrorKind::Usage, "{}; see acgan-train {} --help", reason, command_);
}

void OptionParser::reject_extra(const std::string& extra) const {
  if (!extra.starts_with("-")) reject(fmt::format("unexpected argument '{}'", extra));
  std::vector<std::string> known;
  for (const CLI::Option* option : app_->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string name = extra.substr(0, extra.find('='));
  reject(fmt::format("unknown option '{}', did you mean '{}'?", name, nearest_name(name, known)));
}

ConfigOptions::ConfigOptions(OptionParser& parser, std::span<const ConfigOption> options)
    : parser_(parser), options_(options), values_(options.size()), flags_(options.size()) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const ConfigOption& option = options[i];
    if (option.form == ValueForm::Flag) {
      parser.flag(option.flag, config_key(option.key).meaning, flags_[i]);
      continue;
    }
    parser.value(option.flag, option.label, describe_key(config_key(option.key)), values_[i]);
  }
  parser.values("--set", "KEY=VALUE", "any config key; repeatable, comes after the options above",
                settings_);
  parser.footer(key_table());
}

std::vector<ConfigOverride> ConfigOptions::overrides() const {
  std::vector<ConfigOverride> result;
  for (std::size_t i = 0; i < options_.size(); ++i) {
    const ConfigOption& option = options_[i];
    if (flags_[i]) {
      result.push_back({.source = option.flag, .key = option.key, .value = "true"});
    }
    if (!values_[i]) continue;
    result.push_back(
        {.source = option.flag, .key = option.key, .value = as_yaml(*values_[i], option.form)});
  }
  for (const std::string& setting : settings_) {
    result.push_back(setting_override(setting, parser_));
  }
  return result;
}

std::string describe_key(const ConfigKey& key) {
  const std::string preset = key.get ? "; default " + key.get(Config{}) : "";
  return fmt::format("{} ({}{})", key.meaning, key.allowed, preset);
}

Arguments split_at_commas(const std::string& list) {
  Arguments parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace acgan
