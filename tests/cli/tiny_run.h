#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/format.h"
#include "cli/program.h"
#include "support/temporary_folder.h"

namespace acgan::test {

// A model so small that a step takes a millisecond. On stdout a run's end is its last line.
inline const char* const kTinyConfig = R"(
data: {kind: doodles, image_size: 8, doodles_per_class: 3, classes: []}
model: {latent_dim: 3, dense_width: 5, conv1_width: 4, conv2_width: 6, classifier_width: 5}
train: {batch: 4, steps: 3, minutes: 1, seed: 5, device: cpu, threads: 1}
output: {dir: runs, rows: 2, sample_every: 0, report: false}
)";

// A folder with that config in it as tiny.yaml, where the program runs.
class TinyRun {
 public:
  TinyRun() { write_text(folder_ / "tiny.yaml", kTinyConfig); }

  const TemporaryFolder& folder() const { return folder_; }
  ProgramResult run(const std::vector<std::string>& arguments) const {
    return run_program(folder_.path(), arguments);
  }
  // The command `train` with tiny.yaml and these options.
  ProgramResult train(std::vector<std::string> options) const {
    options.insert(options.begin(), {"-c", "tiny.yaml"});
    return run(options);
  }
  static std::string run_path(int number = 0) {
    return fmt::format("runs/{:05d}-tiny-fp32-batch4", number);
  }
  // Of what lies in that run's directory.
  std::string path_in(const std::string& name, int number = 0) const {
    return folder_ / (run_path(number) + "/" + name);
  }
  bool has(const std::string& path) const { return std::filesystem::exists(folder_ / path); }

 private:
  TemporaryFolder folder_;
};

}  // namespace acgan::test
