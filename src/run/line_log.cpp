#include "run/line_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"

namespace acgan {
namespace {

std::string read_log(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) {
    fail(ErrorKind::Output,
         "cannot read {}, which this run should go on writing; it must be a "
         "readable file",
         path);
  }
  return content;
}

// Removes the first line from `rest` and returns it; none when no whole line is left.
std::optional<std::string_view> take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

// `content` with the header and the whole records up to `last_step`.
std::string keep_until(std::string_view content, const std::string& path, const std::string& header,
                       std::int64_t last_step, const LineLog::StepOf& step_of) {
  std::string kept;
  if (!header.empty()) {
    const std::string_view found = take_line(content).value_or("");
    // A crash may have torn the header itself; only another one is somebody else's file.
    if (found != header && (!found.empty() || !header.starts_with(content))) {
      fail(ErrorKind::Output,
           "{} should begin with the line \"{}\" but begins with \"{}\"; move it "
           "away or resume another run",
           path, header, (found.empty() ? content : found).substr(0, 200));
    }
    kept = header + "\n";
    if (found.empty()) return kept;
  }
  while (const std::optional<std::string_view> line = take_line(content)) {
    const std::optional<std::int64_t> step = step_of(*line);
    if (step && *step <= last_step) kept.append(*line).append("\n");
  }
  return kept;
}

}  // namespace

LineLog::LineLog(const std::string& path, const std::string& header, std::int64_t last_step,
                 const StepOf& step_of)
    : path_(path) {
  std::error_code ignored;
  const std::string content = std::filesystem::is_regular_file(path, ignored) ? read_log(path) : "";
  const std::string kept = keep_until(content, path, header, last_step, step_of);
  if (kept != content) write_file_atomically(path, kept);

  // Not waiting: a pipe without a reader is an error.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  file_.emplace(::open(path.c_str(), kFlags, 0666));
  if (file_->number() < 0) fail_to_write(errno);
}

void LineLog::add(const std::string& line) {
  const off_t end = ::lseek(file_->number(), 0, SEEK_END);
  const std::string whole = line + '\n';
  if (const int error = file_->write_all(std::as_bytes(std::span(whole))); error != 0) {
    // Whoever goes on must not add to a torn line. Where this fails too, reading drops that line.
    [[maybe_unused]] const int ignored = end >= 0 ? ::ftruncate(file_->number(), end) : 0;
    fail_to_write(error);
  }
}

void LineLog::fail_to_write(int error) const {
  fail(ErrorKind::Output,
       "cannot write {}: {}; free some space or choose another output folder with --outdir", path_,
       std::generic_category().message(error));
}

}  // namespace acgan
