#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log.h"
#include "bench/bench.h"
#include "config/load_config.h"
#include "quality/onnx_features.h"
#include "train/train_state.h"

namespace acgan {

struct TrainCommand {
  std::optional<std::string> config_path;  // none: the config of the run that `resume` names
  std::vector<ConfigOverride> overrides;   // in the order in which they take effect
  std::optional<std::string> resume;       // "latest", a checkpoint file or a run directory
  bool dry_run = false;
  bool profile = false;
  Verbosity verbosity = Verbosity::Normal;
};

// What `sample` draws.
enum class SamplePicture {
  Classes,     // a column for each class, a row for each latent
  LatentWalk,  // --interpolate latents
  ClassWalk,   // --interpolate classes
  Nearest,     // --nearest: each image beside the real one nearest to it
  Animation,   // --animate: the grids of a run, one after the other
};

struct SampleCommand {
  SamplePicture picture = SamplePicture::Classes;
  std::string checkpoint;            // a file, or a run directory: its newest checkpoint
  std::vector<std::string> classes;  // empty: all of the model
  std::uint64_t seed = 1;
  std::int64_t rows = 10;           // images of each class; of walks: rows of each class
  std::int64_t steps = 9;           // images of a walk from one end to the next
  std::optional<std::string> data;  // of Nearest; none: where the checkpoint's config says
  std::string run;                  // of Animation: a run directory
  std::string out = "samples.png";
  bool singles = false;  // a PNG for each image, in the folder `out`
  GeneratorWeights weights = GeneratorWeights::Average;
  std::string device = "auto";
  int threads = 0;
};

struct ExportCommand {
  std::string checkpoint;  // a file, or a run directory: its newest checkpoint
  std::string onnx;        // the file to write
  GeneratorWeights weights = GeneratorWeights::Average;
};

struct BenchCommand {
  std::string config_path;
  std::vector<ConfigOverride> overrides;  // in the order in which they take effect
  BenchRequest request;                   // without its config; no batch: the config's
  Verbosity verbosity = Verbosity::Normal;
  bool half_from_config = false;  // the 16-bit type was not given
};

struct EvaluateCommand {
  std::string checkpoint;             // a file or a run directory; empty: `images` are judged
  std::string images;                 // a folder or a .npy that another program made
  std::optional<std::string> labels;  // of a .npy
  std::string config_path;            // says what the real data is; with `images` only
  std::vector<ConfigOverride> overrides;
  std::int64_t samples = 5000;
  std::uint64_t seed = 1;
  GeneratorWeights weights = GeneratorWeights::Average;
  std::optional<OnnxNet> feature_net;  // none: the one that learns from the real images
  std::optional<std::string> out;      // a JSON line is appended; none: metrics.jsonl of the run
};

struct ReportCommand {
  std::string run;                 // a run directory
  std::optional<std::string> out;  // none: report.html in it
};

struct DevicesCommand {};

// --help, --version
struct PrintCommand {
  std::string text;
};

using Command = std::variant<TrainCommand, BenchCommand, SampleCommand, EvaluateCommand,
                             ExportCommand, ReportCommand, DevicesCommand, PrintCommand>;

// What the arguments (without the program's name) ask for. Throws Error{Usage} with a hint to
// --help; values of config keys are checked later, by load_config.
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace acgan
