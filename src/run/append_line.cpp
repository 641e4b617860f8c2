#include "run/append_line.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/error.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void reject(const std::string& path, int reason) {
  fail(ErrorKind::Output, "cannot write {}: {}; choose another file", path,
       std::generic_category().message(reason));
}

// What stands in the file may lack the end of its last line.
bool ends_within_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() <= 0) return false;
  file.seekg(-1, std::ios::end);
  return file.get() != '\n';
}

// Or nothing yet. A line of ours begins with a brace.
bool holds_json_lines(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  const int first = file.get();
  return file.eof() || first == '{';
}

}  // namespace

void check_can_append(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) reject(path, EISDIR);
  const bool exists = fs::exists(path, ignored);
  if (exists && !holds_json_lines(path)) {
    fail(ErrorKind::Output, "cannot append to {}: it holds something else than lines of JSON; {}",
         path, "choose another file");
  }
  const fs::path folder = fs::path(path).parent_path();
  const std::string asked = exists ? path : folder.empty() ? "." : folder.string();
  if (::access(asked.c_str(), W_OK) != 0) reject(path, errno);
  if (!exists && !fs::is_directory(asked, ignored)) reject(path, ENOTDIR);
}

void append_line(const std::string& path, const std::string& line) {
  const std::string text = (ends_within_line(path) ? "\n" : "") + line + "\n";
  errno = 0;
  std::ofstream file(path, std::ios::app | std::ios::binary);
  file << text << std::flush;
  if (!file) reject(path, errno);
}

}  // namespace acgan
