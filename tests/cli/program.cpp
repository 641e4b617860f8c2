#include "cli/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/check.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

constexpr std::chrono::milliseconds kPause{10};
constexpr std::chrono::seconds kPatience{30};

struct Start {
  const char* folder = nullptr;
  char* const* arguments = nullptr;
  int pipe = -1;                               // to write stdout to
  const char* terminal = nullptr;              // to be controlled by, with stdout
  rlim_t most_memory = 0, most_file_size = 0;  // 0: no limit
};

bool limit(__rlimit_resource resource, rlim_t most) {
  const rlimit limits{.rlim_cur = most, .rlim_max = most};
  return most == 0 || ::setrlimit(resource, &limits) == 0;
}

int open_stdout(const Start& start) {
  if (start.pipe >= 0) return start.pipe;
  if (start.terminal == nullptr) return ::open("stdout", O_CREAT | O_TRUNC | O_WRONLY, 0600);
  // The first terminal that the leader of a session opens is the one that it hangs on.
  return ::setsid() >= 0 ? ::open(start.terminal, O_RDWR) : -1;
}

// Only what is allowed between fork and exec.
[[noreturn]] void become_program(const Start& start) {
  const int out = ::chdir(start.folder) == 0 ? open_stdout(start) : -1;
  const int err = ::open("stderr", O_CREAT | O_TRUNC | O_WRONLY, 0600);
  const bool is_limited =
      limit(RLIMIT_AS, start.most_memory) && limit(RLIMIT_FSIZE, start.most_file_size);
  if (is_limited && out >= 0 && err >= 0 && ::dup2(out, 1) == 1 && ::dup2(err, 2) == 2) {
    ::close(out);
    ::execv(start.arguments[0], start.arguments);
  }
  ::_exit(127);
}

int open_terminal() {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ACGAN_CHECK(terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0);
  return terminal;
}

}  // namespace

Program::Program(const std::string& folder, const std::vector<std::string>& arguments,
                 const ProgramOptions& options)
    : folder_(folder) {
  std::vector<std::string> texts{ACGAN_BINARY};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  write_text(folder + "/stdout", "");
  std::string terminal;
  Start start{.folder = folder_.c_str(),
              .arguments = pointers.data(),
              .most_memory = static_cast<rlim_t>(options.most_memory),
              .most_file_size = static_cast<rlim_t>(options.most_file_size)};
  if (options.reader == Reader::Pipe) {
    int ends[2];
    ACGAN_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
    reader_ = ends[0];
    start.pipe = ends[1];
  } else if (options.reader == Reader::Terminal) {
    reader_ = open_terminal();
    terminal = ::ptsname(reader_);
    start.terminal = terminal.c_str();
    ::setenv("TERM", "xterm", 1);
  }
  if (reader_ >= 0) ACGAN_CHECK(::fcntl(reader_, F_SETFL, O_NONBLOCK) == 0);
  process_ = ::fork();
  ACGAN_CHECK(process_ >= 0);
  if (process_ == 0) become_program(start);
  if (start.pipe >= 0) ::close(start.pipe);
}

Program::~Program() {
  close_reader();
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

void Program::close_reader() {
  if (reader_ >= 0) ::close(reader_);
  reader_ = -1;
}

std::string Program::output() {
  std::array<char, 4096> piece{};
  for (ssize_t count = 1; reader_ >= 0 && count > 0;) {
    count = ::read(reader_, piece.data(), piece.size());
    if (count > 0) read_.append(piece.data(), static_cast<std::size_t>(count));
  }
  return read_ + read_text(folder_ + "/stdout");
}

bool Program::wait_for(const std::string& text) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (output().find(text) != std::string::npos) return true;
    siginfo_t info{};  // WNOWAIT: finish() collects the exit code
    ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (info.si_pid == process_) return false;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

bool Program::wait_for_text(const std::string& path, const std::string& text) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (read_text(path).find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

void Program::signal(int number) const { ::kill(process_, number); }

ProgramResult Program::finish() {
  int status = 0;
  ACGAN_CHECK(::waitpid(process_, &status, 0) == process_);
  process_ = -1;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, output(), read_text(folder_ + "/stderr")};
}

ProgramResult run_program(const std::string& folder, const std::vector<std::string>& arguments,
                          const ProgramOptions& options) {
  return Program(folder, arguments, options).finish();
}

}  // namespace acgan::test
