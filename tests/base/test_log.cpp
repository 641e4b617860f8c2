#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <regex>
#include <string>

#include "base/log.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

// Sends one of the process's streams to a file descriptor while it lives.
class Redirection {
 public:
  Redirection(std::FILE* stream, int target) : stream_(stream), saved_(::dup(::fileno(stream))) {
    std::fflush(stream_);
    ACGAN_CHECK(saved_ >= 0 && ::dup2(target, ::fileno(stream_)) >= 0);
    ::close(target);
  }
  ~Redirection() {
    std::fflush(stream_);
    ::dup2(saved_, ::fileno(stream_));
    ::close(saved_);
  }
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;

 private:
  std::FILE* stream_;
  int saved_;
};

int open_new(const std::string& path) { return ::open(path.c_str(), O_CREAT | O_RDWR, 0600); }

// A terminal of our own.
class Terminal {
 public:
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    ACGAN_CHECK(master_ >= 0 && ::grantpt(master_) == 0 && ::unlockpt(master_) == 0);
    ::setenv("TERM", "xterm", 1);
  }
  ~Terminal() { ::close(master_); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int open_slave() const { return ::open(::ptsname(master_), O_RDWR | O_NOCTTY); }
  void set_width(unsigned short columns) const {
    winsize size{};
    size.ws_col = columns;
    ACGAN_CHECK(::ioctl(master_, TIOCSWINSZ, &size) == 0);
  }
  // All that was written so far: the kernel may hand it over in pieces, a little later.
  std::string read() const {
    std::string text;
    pollfd poll_master{.fd = master_, .events = POLLIN, .revents = 0};
    std::array<char, 4096> piece;
    while (::poll(&poll_master, 1, 300) == 1 && (poll_master.revents & POLLIN) != 0) {
      const ssize_t count = ::read(master_, piece.data(), piece.size());
      if (count <= 0) break;
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int master_;
};

struct Output {
  std::string out, err, file;
};

// Everything that `action` logs, by place.
template <typename Action>
Output log_with(Verbosity verbosity, const Action& action) {
  const TemporaryFolder folder;
  {
    const Redirection out(stdout, open_new(folder / "out"));
    const Redirection err(stderr, open_new(folder / "err"));
    Log log(verbosity);
    action(log, folder / "log.txt");
  }
  const bool has_file = std::filesystem::exists(folder / "log.txt");
  return {read_text(folder / "out"), read_text(folder / "err"),
          has_file ? read_text(folder / "log.txt") : ""};
}

void say_all(Log& log, const std::string& file) {
  log.info("before {}", 1);
  log.open_file(file);
  log.info("info {{}}");
  log.debug("debug {}", 2);
  log.warn("warn {}", 3);
  log.progress("progress");
  log.record_error("error");
  CHECK(log.warnings() == 1);
  CHECK_FALSE(log.is_live());  // a file is no terminal
}

// The messages of a log file, without its time stamps.
std::string without_times(const std::string& text) {
  const std::regex stamp(R"(\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] )");
  return std::regex_replace(text, stamp, "");
}

}  // namespace

TEST_CASE("messages go where they belong") {
  const std::string file =
      "[info] before 1\n[info] info {}\n[debug] debug 2\n[warning] warn 3\n[error] error\n";
  const Output normal = log_with(Verbosity::Normal, say_all);
  CHECK(normal.out == "before 1\ninfo {}\n");
  CHECK(normal.err == "warning: warn 3\n");
  CHECK(without_times(normal.file) == file);

  const Output quiet = log_with(Verbosity::Quiet, say_all);
  CHECK(quiet.out.empty());
  CHECK(quiet.err == "warning: warn 3\n");
  CHECK(without_times(quiet.file) == file);

  const Output verbose = log_with(Verbosity::Verbose, say_all);
  CHECK(verbose.out == "before 1\ninfo {}\ndebug 2\n");
  CHECK(without_times(verbose.file) == file);
}

TEST_CASE("a log file is appended to, and one that cannot be opened is an error") {
  const Output output = log_with(Verbosity::Normal, [](Log& log, const std::string& file) {
    write_text(file, "from an earlier run\n");
    log.open_file(file);
    log.info("more");
    Log second;
    CHECK_THROWS_WITH(second.open_file(file + "/log.txt"),
                      Catch::StartsWith("cannot open the log file " + file));
  });
  CHECK(without_times(output.file) == "from an earlier run\n[info] more\n");
}

TEST_CASE("a full disk is told once and does not stop the program") {
  if (!std::filesystem::exists("/dev/full")) return;
  const Output output = log_with(Verbosity::Normal, [](Log& log, const std::string&) {
    log.open_file("/dev/full");
    log.info("one");
    log.info("two");
  });
  CHECK(output.out == "one\ntwo\n");
  CHECK_THAT(output.err, Catch::StartsWith("warning: cannot write /dev/full: "));
  CHECK(output.err.find('\n') == output.err.size() - 1);
}

TEST_CASE("the live line is redrawn, and erased before other messages") {
  const Terminal terminal;
  const TemporaryFolder folder;
  {
    const Redirection err(stderr, open_new(folder / "err"));
    const Redirection out(stdout, terminal.open_slave());
    Log log;
    CHECK(log.is_live());
    log.progress("step 1");
    log.progress("step 2");
    log.info("a message");
    log.info("another");
    log.progress("step 3");
    log.warn("careful");
    log.progress("step 4");
  }
  const std::string erase = "\r\x1b[K";
  CHECK(terminal.read() == erase + "step 1" + erase + "step 2" + erase +
                               "a message\r\nanother\r\n" + erase + "step 3" + erase + erase +
                               "step 4\r\n");
  CHECK(read_text(folder / "err") == "warning: careful\n");
}

TEST_CASE("the live line is cut to the width of the terminal") {
  const Terminal terminal;
  terminal.set_width(10);
  {
    const Redirection out(stdout, terminal.open_slave());
    Log().progress("0123456789ab");
  }
  CHECK(terminal.read() == "\r\x1b[K012345678\r\n");
}

TEST_CASE("a quiet log and a dumb terminal have no live line") {
  const Terminal terminal;
  const Redirection out(stdout, terminal.open_slave());
  CHECK_FALSE(Log(Verbosity::Quiet).is_live());
  ::setenv("TERM", "dumb", 1);
  CHECK_FALSE(Log().is_live());
}

}  // namespace acgan::test
