#include "report/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>

#include "base/error.h"

extern char** environ;  // NOLINT: POSIX

namespace acgan {
namespace {

constexpr int kFirstFile = 3;
// Descriptors of ours are above those that a child finds files at.
constexpr int kFirstOwn = 100;

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      fail(ErrorKind::Output, "cannot write a file in memory: {}", std::strerror(errno));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A file that nobody else sees: unlike a pipe it never makes the writer wait for the reader.
class FileInMemory {
 public:
  explicit FileInMemory(std::string_view content) {
    const int opened = memfd_create("acgan-train", MFD_CLOEXEC);
    descriptor_ = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, kFirstOwn);
    const int why = errno;
    if (opened >= 0) close(opened);
    if (descriptor_ < 0) {
      fail(ErrorKind::Output, "cannot open a file in memory: {}", std::strerror(why));
    }
    write_all(descriptor_, content);
    lseek(descriptor_, 0, SEEK_SET);
  }
  ~FileInMemory() { close(descriptor_); }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::string read_all(int descriptor) {
  std::string text;
  char part[65536];
  for (off_t offset = 0;;) {
    const ssize_t count = pread(descriptor, part, sizeof(part), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part, static_cast<std::size_t>(count));
    offset += count;
  }
}

std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \n\r\t") + 1);
  return text.substr(text.rfind('\n') + 1);
}

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  void use(const FileInMemory& file, int as) {
    posix_spawn_file_actions_adddup2(&actions_, file.get(), as);
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
                       const std::string& hint, const std::vector<std::string_view>& files) {
  const FileInMemory in(input), out(""), error("");
  std::deque<FileInMemory> extras;
  SpawnActions actions;
  actions.use(in, STDIN_FILENO);
  actions.use(out, STDOUT_FILENO);
  actions.use(error, STDERR_FILENO);
  for (const std::string_view file : files) {
    extras.emplace_back(file);
    actions.use(extras.back(), kFirstFile + static_cast<int>(extras.size()) - 1);
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
    fail(ErrorKind::Output, "{} failed: {}", command.front(), last_line(read_all(error.get())));
  }
  return read_all(out.get());
}

}  // namespace acgan
