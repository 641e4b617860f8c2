#include "cli/train_command.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "base/error.h"
#include "train/trainer.h"

namespace acgan {

namespace {

// The one global of the program: a signal handler can reach nothing else.
std::atomic<int> signal_received{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

// The first signal asks for an orderly end; whoever sends a second one does not want to wait.
extern "C" void on_signal(int number) {
  int none = 0;
  if (!signal_received.compare_exchange_strong(none, number)) _exit(128 + number);
}

class SignalGuard {
 public:
  SignalGuard() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;  // the current step and file go on
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
    sigaction(SIGHUP, &action, &old_hang_up_);
    // Nobody reads the terminal's lines any more (a closed pipe): no reason to lose the training.
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, &old_pipe_);
  }
  ~SignalGuard() {
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
    sigaction(SIGHUP, &old_hang_up_, nullptr);
    sigaction(SIGPIPE, &old_pipe_, nullptr);
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  struct sigaction old_hang_up_ {};
  struct sigaction old_pipe_ {};
};

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
    return static_cast<int>(run_training(request, log, signal_received));
  } catch (const std::exception& error) {
    log.record_error(error.what());
    throw;
  }
}

}  // namespace acgan
