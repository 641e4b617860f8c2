#include "cli/model_checkpoint.h"

#include <filesystem>

#include "base/error.h"
#include "run/run_directory.h"

namespace acgan {

Checkpoint load_model_checkpoint(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return Checkpoint::load(path);
  const std::vector<std::string> checkpoints = RunDirectory::open(path).checkpoints();
  if (checkpoints.empty()) {
    fail(ErrorKind::Output, "{}: this run has no checkpoint yet; name one with --checkpoint", path);
  }
  return Checkpoint::load(checkpoints.front());
}

}  // namespace acgan
