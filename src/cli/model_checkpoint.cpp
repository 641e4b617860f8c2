#include "cli/model_checkpoint.h"

#include <filesystem>

#include "base/error.h"
#include "base/printable.h"
#include "run/run_directory.h"

namespace acgan {

namespace {

Checkpoint load(const std::string& path) {
  Checkpoint checkpoint = Checkpoint::load(path);
  if (!checkpoint.has_checksum()) {
    fmt::print(stderr,
               "acgan-train: warning: {} has no checksum: damage to it could not be noticed\n",
               printable(path));
  }
  return checkpoint;
}

}  // namespace

Checkpoint load_model_checkpoint(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return load(path);
  const std::vector<std::string> checkpoints = RunDirectory::open(path).checkpoints();
  if (checkpoints.empty()) {
    fail(ErrorKind::Output, "{}: this run has no checkpoint yet; name one with --checkpoint", path);
  }
  return load(checkpoints.front());
}

void check_fits(const ModelFacts& facts, const Dataset& real, const std::string& source) {
  if (facts.class_names != real.class_names) {
    fail(ErrorKind::Data,
         "{} draws the classes {}, but the data set ({}) has {}: name the data it was trained on "
         "with --data",
         source, fmt::join(facts.class_names, ", "), real.description,
         fmt::join(real.class_names, ", "));
  }
  const std::int64_t side = facts.shape.image_size;
  if (side != real.height || side != real.width || facts.shape.channels != real.channels) {
    fail(ErrorKind::Data,
         "{} draws images {}x{}x{}, but those of the data set ({}) are {}x{}x{}: name the data it "
         "was trained on with --data",
         source, side, side, facts.shape.channels, real.description, real.height, real.width,
         real.channels);
  }
}

bool check_is_its_data(const Checkpoint& checkpoint, const Dataset& real,
                       const std::string& fingerprint) {
  if (checkpoint.text("data_fingerprint") == fingerprint) return true;
  fmt::print(stderr, "acgan-train: warning: {} was not trained on exactly these images ({})\n",
             printable(checkpoint.source()), printable(real.description));
  return false;
}

}  // namespace acgan
