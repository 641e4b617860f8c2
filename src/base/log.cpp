#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <vector>

#include "base/error.h"

namespace acgan {

namespace {

const char* const kEraseLine = "\r\x1b[K";

// A dumb terminal (an editor's, a CI log's) cannot erase a line.
bool is_terminal(std::FILE* stream) {
  const char* type = std::getenv("TERM");
  return isatty(fileno(stream)) == 1 && type != nullptr && std::string_view(type) != "dumb";
}

// A wrapped line could not be erased, so it is cut to the terminal's width.
std::string_view fit_to_terminal(std::string_view line) {
  winsize size{};
  if (ioctl(fileno(stdout), TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return line;
  return line.substr(0, size.ws_col - 1u);
}

// A logger of our own: spdlog's registry would be global state.
spdlog::logger make_logger(spdlog::sink_ptr sink, const std::string& pattern) {
  spdlog::logger logger("acgan", std::move(sink));
  logger.set_level(spdlog::level::trace);
  logger.flush_on(spdlog::level::trace);
  logger.set_pattern(pattern);
  return logger;
}

}  // namespace

struct Log::Sinks {
  // Logged before there was a file: the start of a run belongs into its log as well.
  struct EarlyMessage {
    std::chrono::system_clock::time_point time;
    spdlog::level::level_enum level;
    std::string text;
  };

  explicit Sinks(Verbosity level)
      : verbosity(level),
        is_live(level != Verbosity::Quiet && is_terminal(stdout)),
        results(make_logger(std::make_shared<spdlog::sinks::stdout_sink_mt>(), "%v")),
        warnings(make_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>(), "warning: %v")) {}

  void erase_progress() {
    if (!has_progress) return;
    std::fputs(kEraseLine, stdout);
    std::fflush(stdout);
    has_progress = false;
  }
  void write_file(spdlog::level::level_enum level, const std::string& message) {
    if (file) {
      file->log(level, message);
    } else if (early.size() < kMostEarly) {
      early.push_back({std::chrono::system_clock::now(), level, message});
    }
  }
  void write_early_messages() {
    for (const EarlyMessage& message : early) {
      file->log(message.time, spdlog::source_loc{}, message.level, message.text);
    }
    early.clear();
  }

  std::mutex mutex;
  Verbosity verbosity;
  bool is_live;
  bool has_progress = false;
  int warning_count = 0;
  spdlog::logger results, warnings;
  std::unique_ptr<spdlog::logger> file;

  // A program that never opens a file must not collect messages for ever.
  static constexpr std::size_t kMostEarly = 1000;
  std::vector<EarlyMessage> early;
};

Log::Log(Verbosity verbosity) : sinks_(std::make_unique<Sinks>(verbosity)) {}

// The last progress line stays on the terminal; what follows begins on a new one.
Log::~Log() {
  if (!sinks_->has_progress) return;
  std::fputs("\n", stdout);
  std::fflush(stdout);
}

void Log::open_file(const std::string& path) {
  const std::lock_guard lock(sinks_->mutex);
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored) || std::filesystem::is_fifo(path, ignored)) {
    fail(ErrorKind::Output, "{} is a link or a pipe, expected a file of our own: move it away",
         path);
  }
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    sinks_->file = std::make_unique<spdlog::logger>(
        make_logger(std::move(sink), "[%Y-%m-%d %H:%M:%S.%e] [%l] %v"));
  } catch (const spdlog::spdlog_ex& error) {
    fail(ErrorKind::Output, "cannot open the log file {}: {}", path, error.what());
  }
  // A full disk must not end a run because of its log: the files that matter report it themselves.
  sinks_->file->set_error_handler([told = false, path](const std::string& reason) mutable {
    if (!told) fmt::print(stderr, "warning: cannot write {}: {}\n", path, reason);
    told = true;
  });
  sinks_->write_early_messages();
}

void Log::progress(std::string_view line) {
  const std::lock_guard lock(sinks_->mutex);
  if (!sinks_->is_live) return;
  fmt::print("{}{}", kEraseLine, fit_to_terminal(line));
  std::fflush(stdout);
  sinks_->has_progress = true;
}

bool Log::is_live() const { return sinks_->is_live; }

int Log::warnings() const {
  const std::lock_guard lock(sinks_->mutex);
  return sinks_->warning_count;
}

void Log::record_error(const std::string& message) {
  const std::lock_guard lock(sinks_->mutex);
  sinks_->write_file(spdlog::level::err, message);
}

void Log::write_info(const std::string& message) {
  const std::lock_guard lock(sinks_->mutex);
  if (sinks_->verbosity != Verbosity::Quiet) {
    sinks_->erase_progress();
    sinks_->results.info(message);
  }
  sinks_->write_file(spdlog::level::info, message);
}

void Log::write_debug(const std::string& message) {
  const std::lock_guard lock(sinks_->mutex);
  if (sinks_->verbosity == Verbosity::Verbose) {
    sinks_->erase_progress();
    sinks_->results.info(message);
  }
  sinks_->write_file(spdlog::level::debug, message);
}

void Log::write_warning(const std::string& message) {
  const std::lock_guard lock(sinks_->mutex);
  ++sinks_->warning_count;
  sinks_->erase_progress();
  sinks_->warnings.warn(message);
  sinks_->write_file(spdlog::level::warn, message);
}

}  // namespace acgan
