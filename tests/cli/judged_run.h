#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"
#include "support/temporary_folder.h"

namespace acgan::test {

inline const char* const kTinyConfig = R"(
data: {kind: doodles, image_size: 8, doodles_per_class: 12, classes: [fish, house, cup]}
model: {latent_dim: 3, dense_width: 5, conv1_width: 4, conv2_width: 6, classifier_width: 5}
train: {batch: 4, steps: 3, minutes: 1, seed: 5, device: cpu, threads: 1}
output: {dir: runs, rows: 2, sample_every: 0}
)";

// A folder with that config, a run of it and a cache of its own.
class JudgedRun {
 public:
  JudgedRun() {
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    write_text(folder_ / "tiny.yaml", kTinyConfig);
  }
  ~JudgedRun() { ::unsetenv("XDG_CACHE_HOME"); }

  ProgramResult run(std::vector<std::string> arguments) const {
    return run_program(folder_.path(), arguments);
  }
  ProgramResult evaluate(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "evaluate");
    return run(arguments);
  }
  std::string path(const std::string& name) const { return folder_ / name; }
  std::string run_path() const { return "runs/00000-tiny-fp32-batch4"; }
  std::vector<nlohmann::json> metrics(const std::string& file) const {
    std::vector<nlohmann::json> lines;
    std::istringstream stream(read_text(folder_ / file));
    for (std::string line; std::getline(stream, line);)
      lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace acgan::test
