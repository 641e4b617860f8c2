#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "config/load_config.h"
#include "support/temporary_folder.h"

namespace acgan::test {

// A YAML text as a file of its own, read as the program reads it.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& yaml) : path_(folder_ / "some.yaml") {
    write_text(path_, yaml);
  }

  const std::string& path() const { return path_; }
  Config load(const std::vector<ConfigOverride>& overrides = {}) const {
    return load_config(path_, overrides);
  }
  // The message of the Error{Usage} that reading throws, with FILE for the path; "" when none is.
  std::string refusal(const std::vector<ConfigOverride>& overrides = {}) const {
    try {
      load(overrides);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Usage) return "an error of another kind";
      std::string message = error.what();
      const std::size_t at = message.find(path_);
      return at == std::string::npos ? message : message.replace(at, path_.size(), "FILE");
    }
    return "";
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

}  // namespace acgan::test
