#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/config_value.h"

namespace acgan {

// One setting: everything that parsing, range checks, hints, dump and --help know about it.
struct ConfigKey {
  std::string path;     // "train.batch"
  std::string meaning;  // "images per step"
  std::string allowed;  // "an integer from 2 to 65536"
  std::function<std::optional<Refusal>(Config&, const ConfigValue&)> set;
  std::function<std::string(const Config&)> get;  // as YAML; none for a key that stands for others
  std::optional<ModelPreset> preset = {};         // the only model.preset that has this key

  std::string section() const { return path.substr(0, path.rfind('.')); }
  std::string leaf() const { return path.substr(path.rfind('.') + 1); }
};

// All keys, those of one section together.
const std::vector<ConfigKey>& config_keys();

// The key of this path. Throws std::logic_error when there is none.
const ConfigKey& config_key(std::string_view path);

}  // namespace acgan
