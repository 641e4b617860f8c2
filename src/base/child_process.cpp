#include "base/child_process.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/printable.h"

extern char** environ;  // NOLINT: POSIX

namespace acgan {
namespace {

constexpr int kFirstFile = 3;

std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \n\r\t") + 1);
  return printable(text.substr(text.rfind('\n') + 1));
}

// How a child failed; `said` is its last line on standard error.
std::string failure(int status, const std::string& said) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("ended by signal {} ({}){}{}", signal, strsignal(signal),
                       said.empty() ? "" : ": ", said);
  }
  return said.empty() ? fmt::format("exit code {}", WEXITSTATUS(status)) : said;
}

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  void use(const UnnamedFile& file, int as) {
    posix_spawn_file_actions_adddup2(&actions_, file.descriptor(), as);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail(ErrorKind::Output, "lost a child process: {}", std::strerror(errno));
  }
  return status;
}

}  // namespace

std::string run_filter(const std::vector<std::string>& command, std::string_view input,
                       const std::string& hint, const std::vector<const UnnamedFile*>& files) {
  const UnnamedFile in = UnnamedFile::in_memory(input), out = UnnamedFile::in_memory(),
                    error = UnnamedFile::in_memory();
  SpawnActions actions;
  actions.use(in, STDIN_FILENO);
  actions.use(out, STDOUT_FILENO);
  actions.use(error, STDERR_FILENO);
  for (std::size_t i = 0; i < files.size(); ++i) {
    actions.use(*files[i], kFirstFile + static_cast<int>(i));
  }
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int refused =
      posix_spawnp(&child, arguments.front(), actions.get(), nullptr, arguments.data(), environ);
  if (refused != 0) {
    fail(ErrorKind::Output, "cannot run {}: {}; {}", command.front(), std::strerror(refused), hint);
  }
  const int status = wait_for(child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(ErrorKind::Output, "{} failed: {}", command.front(),
         failure(status, last_line(error.text())));
  }
  return out.text();
}

}  // namespace acgan
