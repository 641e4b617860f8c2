#include "cli/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/check.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

constexpr std::chrono::milliseconds kPause{10};
constexpr std::chrono::seconds kPatience{30};

// Only what is allowed between fork and exec.
[[noreturn]] void become_program(const char* folder, char* const* arguments) {
  const int out = ::chdir(folder) == 0 ? ::open("stdout", O_CREAT | O_TRUNC | O_WRONLY, 0600) : -1;
  const int err = ::open("stderr", O_CREAT | O_TRUNC | O_WRONLY, 0600);
  if (out >= 0 && err >= 0 && ::dup2(out, 1) == 1 && ::dup2(err, 2) == 2) {
    ::execv(arguments[0], arguments);
  }
  ::_exit(127);
}

}  // namespace

Program::Program(const std::string& folder, const std::vector<std::string>& arguments)
    : folder_(folder) {
  std::vector<std::string> texts{ACGAN_BINARY};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  write_text(folder + "/stdout", "");
  process_ = ::fork();
  ACGAN_CHECK(process_ >= 0);
  if (process_ == 0) become_program(folder_.c_str(), pointers.data());
}

Program::~Program() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

bool Program::wait_for(const std::string& text) const {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (read_text(folder_ + "/stdout").find(text) != std::string::npos) return true;
    siginfo_t info{};  // WNOWAIT: finish() collects the exit code
    ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (info.si_pid == process_) return false;
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
  return {code, read_text(folder_ + "/stdout"), read_text(folder_ + "/stderr")};
}

ProgramResult run_program(const std::string& folder, const std::vector<std::string>& arguments) {
  return Program(folder, arguments).finish();
}

}  // namespace acgan::test
