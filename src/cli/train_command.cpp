#include "cli/train_command.h"

#include <filesystem>

#include "base/error.h"
#include "cli/signal_guard.h"
#include "train/trainer.h"

namespace acgan {

namespace {

// config.yaml of the run that `resume` names: the run directory itself, or a file in its
// checkpoints folder.
std::string config_of_run(const std::string& resume) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::exists(resume, ignored)) {
    fail(ErrorKind::Output, "--resume: expected latest, a checkpoint or a run directory, but {} {}",
         resume, "does not exist");
  }
  const fs::path path = fs::absolute(resume).lexically_normal();
  const fs::path run = fs::is_directory(path, ignored) ? path : path.parent_path().parent_path();
  const fs::path config = run / "config.yaml";
  if (!fs::is_regular_file(config, ignored)) {
    fail(ErrorKind::Usage, "--resume {}: there is no {}; name the config with -c", resume,
         config.string());
  }
  return config.string();
}

}  // namespace

int run_train_command(const TrainCommand& command) {
  const SignalGuard guard;
  const std::string config_path =
      command.config_path ? *command.config_path : config_of_run(*command.resume);
  const TrainRequest request{.config = load_config(config_path, command.overrides),
                             .resume = command.resume,
                             .dry_run = command.dry_run,
                             .profile = command.profile};
  Log log(command.verbosity);
  try {
    return static_cast<int>(run_training(request, log, guard.received()));
  } catch (const std::exception& error) {
    log.record_error(error.what());
    throw;
  }
}

}  // namespace acgan
