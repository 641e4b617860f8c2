#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

#include "config/config_value.h"

namespace acgan {

// Where YAML comes from: a file, whose lines count, or an option.
struct YamlSource {
  std::string name;
  bool has_lines = true;

  std::string at(int line) const;  // "FILE:LINE", or the name alone
};

// The text of a file that a person wrote; `what` names it in errors ("config"). Throws Error{Usage}
// where it cannot be read, is a folder, or is larger than anybody writes.
std::string read_yaml_file(const std::string& path, const std::string& what);

// One document. Throws Error{Usage} with the line where it is no YAML or more than one.
YAML::Node parse_yaml(const std::string& text, const YamlSource& source);

int line_of(const YAML::Node& node);  // 0: unknown
// A scalar, or what stands in its place.
ConfigValue scalar_value(const YAML::Node& node, int line);

}  // namespace acgan
