#include "config/load_config.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "config/config_keys.h"
#include "config/nearest_name.h"
#include "config/yaml_document.h"

namespace acgan {

namespace {

// Lists in lists stay empty: no key takes them, and an alias could make them endless.
ConfigValue value_from(const YAML::Node& node, int line) {
  ConfigValue value = scalar_value(node, line);
  if (value.form != ConfigValue::Form::List) return value;
  for (const YAML::Node& item : node) {
    value.items.push_back(scalar_value(item, std::max(line, line_of(item))));
  }
  return value;
}

std::string join_path(const std::string& section, const std::string& leaf) {
  return section.empty() ? leaf : section + "." + leaf;
}

// Sections are the paths that keys lie under; "" is the whole file.
bool is_section(const std::string& path) {
  if (path.empty()) return true;
  return std::any_of(config_keys().begin(), config_keys().end(),
                     [&](const ConfigKey& key) { return key.path.starts_with(path + "."); });
}

const ConfigKey* find_key(const std::string& path) {
  for (const ConfigKey& key : config_keys()) {
    if (key.path == path) return &key;
  }
  return nullptr;
}

// What may stand directly in a section: "batch, steps, minutes, ...".
std::string names_in(const std::string& section) {
  std::vector<std::string> names;
  const std::string prefix = section.empty() ? "" : section + ".";
  for (const ConfigKey& key : config_keys()) {
    if (!key.path.starts_with(prefix)) continue;
    const std::string rest = key.path.substr(prefix.size());
    const std::string name = rest.substr(0, rest.find('.'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return comma_list(names);
}

std::string nearest_key(const std::string& path) {
  std::vector<std::string> candidates;
  for (const ConfigKey& key : config_keys()) {
    const std::string section = key.section();
    if (candidates.empty() ||
        std::find(candidates.begin(), candidates.end(), section) == candidates.end()) {
      candidates.push_back(section);
    }
    candidates.push_back(key.path);
  }
  return nearest_name(path, candidates);
}

// Puts settings over a Config, and remembers where each was made for the checks at the end.
class ConfigReader {
 public:
  explicit ConfigReader(std::string file) : file_(std::move(file)) {}

  void apply(const std::string& path, const YAML::Node& node, const YamlSource& source, int line) {
    if (node.IsMap() && is_section(path)) return apply_section(path, node, source, line);
    if (const ConfigKey* key = find_key(path)) {
      if (const auto refused = key->set(config_, value_from(node, line))) {
        fail(ErrorKind::Usage, "{}: {} must be {}, found {}", source.at(refused->line), path,
             key->allowed, refused->found);
      }
      origin_[path] = source.at(line);
      if (source.has_lines) {
        from_file_.insert(path);
      } else {
        from_file_.erase(path);
      }
      return;
    }
    if (!is_section(path)) {
      fail(ErrorKind::Usage, "{}: unknown key '{}', did you mean '{}'? ({} has {})",
           source.at(line), describe_path(path), nearest_key(path), section_of(path),
           names_in(known_part(path)));
    }
    fail(ErrorKind::Usage, "{}: {} must be a map of keys ({}), found {}", source.at(line),
         path.empty() ? "a config" : path, names_in(path), describe(value_from(node, line)));
  }

  Config finish();

 private:
  void apply_section(const std::string& path, const YAML::Node& map, const YamlSource& source,
                     int line) {
    std::map<std::string, int> seen;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) {
        fail(ErrorKind::Usage, "{}: keys must be plain names, found {}", source.at(line),
             describe(value_from(entry.first, line)));
      }
      const int entry_line = line_of(entry.first);
      const std::string key = join_path(path, entry.first.Scalar());
      if (entry.first.Scalar().find('.') != std::string::npos) {
        fail(ErrorKind::Usage, "{}: unknown key '{}', keys are nested in YAML, not dotted",
             source.at(entry_line), describe_path(key));
      }
      const auto [before, is_new] = seen.emplace(key, entry_line);
      if (!is_new) {
        const std::string first =
            source.has_lines ? fmt::format(", first in line {}", before->second) : "";
        fail(ErrorKind::Usage, "{}: key '{}' stands twice{}; keep one of the two",
             source.at(entry_line), describe_path(key), first);
      }
      apply(key, entry.second, source, entry_line);
    }
  }

  static std::string describe_path(const std::string& path) {
    constexpr std::size_t kShown = 80;
    return path.size() <= kShown ? path : path.substr(0, kShown) + "...";
  }
  static std::string known_part(std::string path) {
    while (!is_section(path)) {
      const std::size_t dot = path.rfind('.');
      path.erase(dot == std::string::npos ? 0 : dot);
    }
    return path;
  }
  static std::string section_of(const std::string& path) {
    const std::string section = known_part(path);
    return section.empty() ? "the top level" : "'" + section + "'";
  }

  // Where a key was set; the file where it has its default.
  std::string origin(const std::string& path) const {
    const auto found = origin_.find(path);
    return found == origin_.end() ? file_ : found->second;
  }
  void check_data();
  void check_model() const;
  void check_loss_scale() const;
  void check_training() const;
  void check_output() const;

  std::string file_;
  Config config_;
  std::map<std::string, std::string> origin_;
  std::set<std::string> from_file_;  // the keys that were last set there
};

void ConfigReader::check_data() {
  DataConfig& data = config_.data;
  const auto kind = config_key("data.kind").get(config_);
  if (data.kind != DataKind::Doodles && data.path.empty()) {
    fail(ErrorKind::Usage,
         "{}: data.path is missing, kind {} needs the folder of its data set there or in --data",
         origin("data.path"), kind);
  }
  const bool is_cifar = data.kind == DataKind::Cifar10 || data.kind == DataKind::Cifar100;
  const std::int64_t fixed_channels = is_cifar                        ? 3
                                      : data.kind == DataKind::Folder ? data.channels
                                                                      : 1;
  if (data.channels != 0 && data.channels != fixed_channels) {
    fail(ErrorKind::Usage, "{}: data.channels must be {} (or 0) for kind {}, found {}",
         origin("data.channels"), fixed_channels, kind, data.channels);
  }
  if (data.held_out > 0 && data.kind != DataKind::QuickDraw && data.kind != DataKind::Folder) {
    fail(ErrorKind::Usage,
         "{}: data.held_out must be 0 for kind {}, which has held-out images of its own, found {}",
         origin("data.held_out"), kind, data.held_out);
  }
  if (!is_cifar) return;
  if (!origin_.contains("data.image_size")) data.image_size = 32;
  if (data.image_size != 32) {
    fail(ErrorKind::Usage, "{}: data.image_size must be 32 for kind {}, found {}",
         origin("data.image_size"), kind, data.image_size);
  }
}

void ConfigReader::check_model() const {
  const std::string preset = config_key("model.preset").get(config_);
  const bool is_command_line =
      origin_.contains("model.preset") && !from_file_.contains("model.preset");
  for (const ConfigKey& key : config_keys()) {
    if (!key.preset || *key.preset == config_.model.preset || !origin_.contains(key.path)) continue;
    // Who chooses another preset on the command line cannot take the file's keys out there.
    if (is_command_line && from_file_.contains(key.path)) continue;
    fail(ErrorKind::Usage,
         "{}: model.preset {} has no {}, which is of another preset: leave it out",
         origin(key.path), preset, key.path);
  }
  if (config_.model.preset == ModelPreset::Resnet32 && config_.data.image_size % 8 != 0) {
    fail(ErrorKind::Usage,
         "{}: data.image_size must be a multiple of 8 for model.preset resnet32, found {}",
         origin(origin_.contains("data.image_size") ? "data.image_size" : "model.preset"),
         config_.data.image_size);
  }
}

void ConfigReader::check_loss_scale() const {
  const PrecisionConfig& precision = config_.precision;
  if (precision.min_scale > precision.max_scale) {
    const bool min_is_set = origin_.contains("precision.min_scale");
    fail(ErrorKind::Usage, "{}: precision.min_scale must be at most max_scale, found {} and {}",
         origin(min_is_set ? "precision.min_scale" : "precision.max_scale"), precision.min_scale,
         precision.max_scale);
  }
  if (precision.init_scale < precision.min_scale || precision.init_scale > precision.max_scale) {
    std::string place = "precision.init_scale";
    if (!origin_.contains(place)) {
      place = precision.init_scale < precision.min_scale ? "precision.min_scale"
                                                         : "precision.max_scale";
    }
    fail(ErrorKind::Usage,
         "{}: precision.init_scale must be from min_scale to max_scale, {} to {}, found {}",
         origin(place), precision.min_scale, precision.max_scale, precision.init_scale);
  }
}

void ConfigReader::check_training() const {
  const TrainConfig& train = config_.train;
  const OptimizerConfig& optimizer = config_.optimizer;
  if (train.loss == SourceLoss::Hinge && train.label_smoothing > 0) {
    fail(ErrorKind::Usage,
         "{}: train.label_smoothing must be 0 for train.loss hinge, which has no targets, found {}",
         origin("train.label_smoothing"), train.label_smoothing);
  }
  if (optimizer.schedule == RateDecay::Constant) return;
  const std::int64_t end = optimizer.decay_steps > 0 ? optimizer.decay_steps : train.steps;
  if (end <= optimizer.warmup_steps) {
    fail(ErrorKind::Usage,
         "{}: optimizer.schedule {} needs to know the step at which the learning rates have "
         "fallen: set optimizer.decay_steps (or train.steps) above warmup_steps, found {} and {}",
         origin("optimizer.schedule"), config_key("optimizer.schedule").get(config_), end,
         optimizer.warmup_steps);
  }
}

void ConfigReader::check_output() const {
  const OutputConfig& output = config_.output;
  const bool asks = output.best_by != BestBy::Auto && output.best_by != BestBy::None;
  if (!asks || output.evaluate_every > 0) return;
  fail(ErrorKind::Usage,
       "{}: output.best_by {} needs figures to choose by: set output.evaluate_every (minutes of "
       "training between them) above 0, found 0",
       origin("output.best_by"), config_key("output.best_by").get(config_));
}

Config ConfigReader::finish() {
  check_data();
  check_model();
  check_loss_scale();
  check_training();
  check_output();
  if (config_.train.steps == 0 && config_.train.minutes == 0) {
    fail(ErrorKind::Usage,
         "{}: train.steps and train.minutes are both 0, one of them must end the run",
         origin(origin_.contains("train.minutes") ? "train.minutes" : "train.steps"));
  }
  return config_;
}

// The config that a run wrote into its directory NNNNN-<config>-<precision>-batch<N> keeps the
// name it had there, so that what repeats the run is called like it.
std::string name_of(const std::string& path) {
  constexpr std::size_t kFewestDigits = 5;
  const std::filesystem::path file = std::filesystem::absolute(path).lexically_normal();
  const std::string folder = file.parent_path().filename().string();
  const std::size_t begin = folder.find_first_not_of("0123456789");
  for (const char* ending : {"-fp32-batch", "-mixed-batch"}) {
    const std::size_t end = folder.rfind(ending);
    if (file.filename() != "config.yaml" || end == std::string::npos) continue;
    if (begin < kFewestDigits || begin + 1 >= end || folder[begin] != '-') continue;
    return folder.substr(begin + 1, end - begin - 1);
  }
  return file.stem().string();
}

}  // namespace

Config parse_config(const std::string& yaml, const std::string& source,
                    const std::vector<ConfigOverride>& overrides) {
  ConfigReader reader(source);
  const YamlSource file{.name = source};
  const YAML::Node root = parse_yaml(yaml, file);
  if (root.IsNull()) fail(ErrorKind::Usage, "{}: expected a config, found no key at all", source);
  reader.apply("", root, file, std::max(1, line_of(root)));
  for (const ConfigOverride& setting : overrides) {
    const YamlSource option{.name = setting.source, .has_lines = false};
    reader.apply(setting.key, parse_yaml(setting.value, option), option, 0);
  }
  Config config = reader.finish();
  config.name = name_of(source);
  return config;
}

Config load_config(const std::string& path, const std::vector<ConfigOverride>& overrides) {
  return parse_config(read_yaml_file(path, "config"), path, overrides);
}

std::string dump_config(const Config& config) {
  std::string yaml;
  std::set<std::string> open;  // sections that have their heading
  for (const ConfigKey& key : config_keys()) {
    if (!key.get || (key.preset && *key.preset != config.model.preset)) continue;
    std::string indent;
    for (std::size_t dot = key.path.find('.'); dot != std::string::npos;
         dot = key.path.find('.', dot + 1)) {
      const std::string section = key.path.substr(0, dot);
      if (open.insert(section).second) {
        yaml += fmt::format("{}{}:\n", indent, section.substr(section.rfind('.') + 1));
      }
      indent += "  ";
    }
    yaml += fmt::format("{}{}: {}  # {}\n", indent, key.leaf(), key.get(config), key.meaning);
  }
  return yaml;
}

double parse_minutes(const std::string& text, const std::string& what) {
  const auto minutes = minutes_from(text);
  if (!minutes) {
    fail(ErrorKind::Usage,
         "{}: expected minutes from 0 to 1e7, or with a unit (90s, 7m, 1.5h), found '{}'", what,
         text);
  }
  return *minutes;
}

}  // namespace acgan
