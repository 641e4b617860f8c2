#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/format.h"

namespace acgan {

enum class Verbosity { Quiet, Normal, Verbose };

// Messages to the terminal (results to stdout, warnings and errors to stderr) and, once a run
// directory exists, to its log.txt with time stamps. A live progress line is drawn only where
// stdout is a terminal. Passed by reference; there is no global logger.
class Log {
 public:
  explicit Log(Verbosity verbosity = Verbosity::Normal);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Messages also go to `path` (appended), those from before this call as well. Throws
  // Error{Output} when it cannot be opened, or is a link or a pipe.
  void open_file(const std::string& path);

  template <typename... Args>
  void info(fmt::format_string<Args...> message, Args&&... args) {
    write_info(fmt::format(message, std::forward<Args>(args)...));
  }
  // Shown with --verbose only; always in the file.
  template <typename... Args>
  void debug(fmt::format_string<Args...> message, Args&&... args) {
    write_debug(fmt::format(message, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> message, Args&&... args) {
    write_warning(fmt::format(message, std::forward<Args>(args)...));
  }

  // Into the file only: how the run ended. The terminal's one error line is main's.
  void record_error(const std::string& message);

  // Redraws the live line on a terminal; does nothing elsewhere.
  void progress(std::string_view line);
  bool is_live() const;
  int warnings() const;  // how many were logged so far

 private:
  void write_info(const std::string& message);
  void write_debug(const std::string& message);
  void write_warning(const std::string& message);

  struct Sinks;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace acgan
