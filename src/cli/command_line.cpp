#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/error.h"
#include "config/config_keys.h"
#include "config/nearest_name.h"

namespace acgan {

namespace {

using Arguments = std::vector<std::string>;

const char* const kTopHelp =
    R"(Trains AC-GANs in mixed precision.

Usage: acgan-train [train] -c CONFIG.yaml [options]
       acgan-train sample --checkpoint PATH [options]
       acgan-train devices

Commands:
  train    train from a config (the default when the first argument is an option)
  sample   images from a trained generator
  devices  what can run here and, where not, why

Options:
  -h, --help  this text; every command has its own: acgan-train train --help
  --version   name and version

Exit codes: 0 done, 2 usage or config, 3 data, 4 training diverged, 5 output or checkpoint,
6 device, 130/143 interrupted by SIGINT/SIGTERM (the run is saved)
)";

// How the text of an option becomes YAML.
enum class ValueForm { Yaml, Text, List };

// An option of `train` that sets a config key.
struct ConfigOption {
  const char* flag = nullptr;
  const char* label = nullptr;
  const char* key = nullptr;
  ValueForm form = ValueForm::Yaml;
};

constexpr ConfigOption kConfigOptions[] = {
    {"--precision", "MODE", "precision.mode"},
    {"--half", "TYPE", "precision.half"},
    {"--device", "NAME", "train.device", ValueForm::Text},
    {"--data", "PATH", "data.path", ValueForm::Text},
    {"--batch", "N", "train.batch"},
    {"--steps", "N", "train.steps"},
    {"--minutes", "M", "train.minutes"},
    {"--sample-at", "M1,M2,...", "output.sample_at", ValueForm::List},
    {"--sample-every", "M", "output.sample_every"},
    {"--save-every", "M", "output.save_every"},
    {"--keep", "N", "output.keep"},
    {"--outdir", "DIR", "output.dir", ValueForm::Text},
    {"--seed", "N", "train.seed"},
    {"--threads", "N", "train.threads"},
    {"--objective", "NAME", "train.objective"},
    {"--conv", "NAME", "train.conv"},
};

// The one that takes no value.
constexpr const char* kAllowTf32 = "--allow-tf32";
constexpr const char* kAllowTf32Key = "train.allow_tf32";

std::string as_yaml(const std::string& text, ValueForm form) {
  switch (form) {
    case ValueForm::Yaml:
      return text;
    case ValueForm::Text:
      return yaml_quoted(text);
    case ValueForm::List:
      return "[" + text + "]";
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

std::string describe_key(const ConfigKey& key) {
  const std::string preset = key.get ? "; default " + key.get(Config{}) : "";
  return fmt::format("{} ({}{})", key.meaning, key.allowed, preset);
}

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

// One command's options: CLI11 with our habits. The last of a repeated option wins.
class OptionParser {
 public:
  OptionParser(const std::string& command, const std::string& description)
      : command_(command), app_(description, "acgan-train " + command) {
    app_.get_formatter()->column_width(kNameColumn);
    app_.set_help_flag("-h,--help", "this text");
    app_.allow_extras();  // so that the message about them is ours
  }

  void value(const std::string& flag, const std::string& label, const std::string& description,
             std::optional<std::string>& target) {
    app_.add_option(flag, target, wrapped(description, kTextColumn))
        ->option_text(label)
        ->type_name(label)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  void values(const std::string& flag, const std::string& label, const std::string& description,
              Arguments& target) {
    app_.add_option(flag, target, wrapped(description, kTextColumn))
        ->option_text(label)
        ->type_name(label)
        ->allow_extra_args(false);
  }
  void flag(const std::string& flag, const std::string& description, bool& target) {
    app_.add_flag(flag, target, wrapped(description, kTextColumn));
  }
  void footer(const std::string& text) { app_.footer(text); }

  // The help text, when it was asked for.
  std::optional<PrintCommand> parse(Arguments arguments) {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::CallForHelp&) {
      return PrintCommand{app_.help()};
    } catch (const CLI::ParseError& error) {
      reject(error.what());
    }
    if (const Arguments extras = app_.remaining(); !extras.empty()) reject_extra(extras.front());
    return std::nullopt;
  }

  [[noreturn]] void reject(const std::string& reason) const {
    fail(ErrorKind::Usage, "{}; see acgan-train {} --help", reason, command_);
  }

 private:
  [[noreturn]] void reject_extra(const std::string& extra) const {
    if (!extra.starts_with("-")) reject(fmt::format("unexpected argument '{}'", extra));
    std::vector<std::string> known;
    for (const CLI::Option* option : app_.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    const std::string name = extra.substr(0, extra.find('='));
    reject(fmt::format("unknown option '{}', did you mean '{}'?", name, nearest_name(name, known)));
  }

  std::string command_;
  CLI::App app_;
};

ConfigOverride setting_override(const std::string& setting, const OptionParser& parser) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    parser.reject(fmt::format("--set: expected KEY=VALUE, found '{}'", setting));
  }
  const std::string key = setting.substr(0, equals);
  return {.source = "--set " + key, .key = key, .value = setting.substr(equals + 1)};
}

constexpr std::size_t kConfigOptionCount = std::size(kConfigOptions);

Command parse_train(const Arguments& arguments) {
  OptionParser parser("train", "Trains from a config.");
  TrainCommand command;
  bool quiet = false, verbose = false, allow_tf32 = false;
  std::optional<std::string> values[kConfigOptionCount];
  Arguments settings;
  parser.value("-c,--config", "FILE", "YAML config; required, unless --resume names a run",
               command.config_path);
  for (std::size_t i = 0; i < kConfigOptionCount; ++i) {
    const ConfigOption& option = kConfigOptions[i];
    parser.value(option.flag, option.label, describe_key(config_key(option.key)), values[i]);
  }
  parser.flag(kAllowTf32, config_key(kAllowTf32Key).meaning, allow_tf32);
  parser.value("--resume", "latest|PATH",
               "go on from the newest complete checkpoint of this outdir and config, or from this "
               "checkpoint file or run directory",
               command.resume);
  parser.values("--set", "KEY=VALUE", "any config key; repeatable, comes after the options above",
                settings);
  parser.flag("-n,--dry-run",
              "check everything, run one step, one grid and one save in memory, print the plan, "
              "write nothing",
              command.dry_run);
  parser.flag("--profile", "print time by operation at the end", command.profile);
  parser.flag("-q,--quiet", "warnings and errors only", quiet);
  parser.flag("-v,--verbose", "say more", verbose);
  parser.footer(key_table());

  if (auto help = parser.parse(arguments)) return *help;
  if (!command.config_path && (!command.resume || *command.resume == "latest")) {
    parser.reject("expected a config (-c FILE.yaml), found none");
  }
  if (quiet && verbose) parser.reject("--quiet and --verbose exclude each other");
  for (std::size_t i = 0; i < kConfigOptionCount; ++i) {
    const ConfigOption& option = kConfigOptions[i];
    if (!values[i]) continue;
    command.overrides.push_back(
        {.source = option.flag, .key = option.key, .value = as_yaml(*values[i], option.form)});
  }
  if (allow_tf32) {
    command.overrides.push_back({.source = kAllowTf32, .key = kAllowTf32Key, .value = "true"});
  }
  for (const std::string& setting : settings) {
    command.overrides.push_back(setting_override(setting, parser));
  }
  if (quiet || verbose) command.verbosity = quiet ? Verbosity::Quiet : Verbosity::Verbose;
  return command;
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

// Empty: all.
Arguments chosen_classes(const std::optional<std::string>& list, const Arguments& singles,
                         const OptionParser& parser) {
  const bool wants_all = list && *list == "all";
  if (wants_all && !singles.empty()) parser.reject("--class and --classes all exclude each other");
  Arguments chosen = list && !wants_all ? split_at_commas(*list) : Arguments{};
  chosen.insert(chosen.end(), singles.begin(), singles.end());
  return chosen;
}

template <typename Number>
Number checked_number(const OptionParser& parser, const std::string& option,
                      const std::string& text, Number low, Number high) {
  const auto number = number_from<Number>(text);
  if (!number || *number < low || *number > high) {
    parser.reject(
        fmt::format("{} must be an integer from {} to {}, found '{}'", option, low, high, text));
  }
  return *number;
}

constexpr std::int64_t kMostRows = 10000;
constexpr int kMostThreads = 4096;

Command parse_sample(const Arguments& arguments) {
  OptionParser parser("sample", "Images from a trained generator.");
  SampleCommand command;
  std::optional<std::string> checkpoint, classes, seed, rows, out, device, threads;
  Arguments single_classes;
  parser.value("--checkpoint", "PATH", "a checkpoint, or a run directory: its newest one; required",
               checkpoint);
  parser.value("--classes", "NAME,NAME,...|all", "one class a column; default all", classes);
  parser.values("--class", "NAME",
                "one more column, of a class whose name may have commas in it; repeatable, comes "
                "after --classes",
                single_classes);
  parser.value("--seed", "N", "decides the latents: an integer of at least 0; default 1", seed);
  parser.value("--rows", "N",
               fmt::format("images of each class: an integer from 1 to {}; default {}", kMostRows,
                           command.rows),
               rows);
  parser.value("--out", "FILE.png|FILE.npy|DIR",
               "a grid, raw images (uint8 [N,H,W,C], row by row), or a folder for either the grid "
               "or --singles; default samples.png, with --singles samples",
               out);
  parser.flag("--singles", "a PNG for each image", command.singles);
  const ConfigKey& device_key = config_key("train.device");
  parser.value("--device", "NAME", describe_key(device_key), device);
  parser.value("--threads", "N", describe_key(config_key("train.threads")), threads);

  if (auto help = parser.parse(arguments)) return *help;
  if (!checkpoint) parser.reject("expected --checkpoint PATH, found none");
  command.checkpoint = *checkpoint;
  command.classes = chosen_classes(classes, single_classes, parser);
  if (seed) {
    const auto most = std::numeric_limits<std::uint64_t>::max();
    command.seed = checked_number<std::uint64_t>(parser, "--seed", *seed, 0, most);
  }
  if (rows) command.rows = checked_number<std::int64_t>(parser, "--rows", *rows, 1, kMostRows);
  if (threads) command.threads = checked_number(parser, "--threads", *threads, 0, kMostThreads);
  command.out = out.value_or(command.singles ? "samples" : command.out);
  if (command.out.empty()) parser.reject("--out must name a file or a folder, found nothing");
  if (device) {
    Config scratch;
    ConfigValue value{.form = ConfigValue::Form::Quoted, .text = *device, .items = {}, .line = 0};
    if (device_key.set(scratch, value)) {
      parser.reject(fmt::format("--device must be {}, found '{}'", device_key.allowed, *device));
    }
    command.device = scratch.train.device;
  }
  return command;
}

Command parse_devices(const Arguments& arguments) {
  OptionParser parser("devices", "Lists what can run here and, where not, why.");
  if (auto help = parser.parse(arguments)) return *help;
  return DevicesCommand{};
}

}  // namespace

Command parse_command_line(const Arguments& arguments) {
  if (arguments.empty()) {
    fail(ErrorKind::Usage, "expected a command or -c CONFIG.yaml; see acgan-train --help");
  }
  const std::string& first = arguments.front();
  const Arguments rest(arguments.begin() + 1, arguments.end());
  if (first == "--help" || first == "-h") return PrintCommand{kTopHelp};
  if (first == "--version") return PrintCommand{"acgan-train " ACGAN_VERSION "\n"};
  if (first == "train") return parse_train(rest);
  if (first == "sample") return parse_sample(rest);
  if (first == "devices") return parse_devices(rest);
  if (first.starts_with("-")) return parse_train(arguments);
  fail(ErrorKind::Usage, "unknown command '{}', expected train, sample or devices; {}", first,
       "see acgan-train --help");
}

}  // namespace acgan
