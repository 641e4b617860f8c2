#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace acgan {

// Where what can be made again is kept: "$XDG_CACHE_HOME/acgan-train", else
// "$HOME/.cache/acgan-train"; empty where neither is set to an absolute path.
inline std::string default_cache_folder() {
  const auto absolute_folder = [](const char* variable) -> std::filesystem::path {
    const char* value = std::getenv(variable);
    return value != nullptr && *value == '/' ? value : "";
  };
  if (const auto base = absolute_folder("XDG_CACHE_HOME"); !base.empty()) {
    return (base / "acgan-train").string();
  }
  const auto home = absolute_folder("HOME");
  return home.empty() ? "" : (home / ".cache" / "acgan-train").string();
}

}  // namespace acgan
