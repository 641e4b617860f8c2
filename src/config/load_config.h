#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace acgan {

// One setting from the command line: where it came from ("--batch", "--set train.batch"), its
// dotted key and its value as YAML text.
struct ConfigOverride {
  std::string source;
  std::string key;
  std::string value;
};

// Reads a YAML file over the defaults, then the overrides, and validates the whole. Keys are
// strict: Error{Usage} names file and line (or the option), the key, what was found, what is
// allowed, and for an unknown key the nearest known one. Booleans are true/false only.
Config load_config(const std::string& path, const std::vector<ConfigOverride>& overrides);
// The same for the text of a config that stands elsewhere; `source` names it in errors.
Config parse_config(const std::string& yaml, const std::string& source,
                    const std::vector<ConfigOverride>& overrides);

// The complete config as YAML that load_config reads back to the same values.
std::string dump_config(const Config& config);

// "90s", "7m", "1.5h" or a plain number of minutes -> minutes. Throws Error{Usage} naming `what`.
double parse_minutes(const std::string& text, const std::string& what);

}  // namespace acgan
