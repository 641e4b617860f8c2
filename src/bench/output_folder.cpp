#include "bench/output_folder.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "run/run_directory.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProbeName = ".bench_probe";

void make_folder(const std::string& folder, const std::string& option) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    fail(ErrorKind::Output, "cannot make the folder {}: {}; choose another place with {}", folder,
         error.message(), option);
  }
}

// The part of a path that is not there yet; whatever of it was made since is removed in the end,
// as far as it is empty.
class MissingFolders {
 public:
  explicit MissingFolders(const std::string& folder) {
    std::error_code ignored;
    for (fs::path path = fs::absolute(folder).lexically_normal();
         path.has_relative_path() && !fs::exists(path, ignored); path = path.parent_path()) {
      missing_.push_back(path);
    }
  }
  ~MissingFolders() {
    std::error_code ignored;
    for (const fs::path& path : missing_) fs::remove(path, ignored);
  }
  MissingFolders(const MissingFolders&) = delete;
  MissingFolders& operator=(const MissingFolders&) = delete;

 private:
  std::vector<fs::path> missing_;  // the innermost first
};

}  // namespace

void check_output_folder(const std::string& folder, const std::vector<std::string>& names,
                         const std::string& option) {
  RunDirectory::check_can_create(folder);
  std::error_code ignored;
  for (const std::string& name : names) {
    const fs::path file = fs::path(folder) / name;
    if (!fs::is_directory(file, ignored)) continue;
    fail(ErrorKind::Output, "cannot write {}: it is a folder; choose another place with {}",
         file.string(), option);
  }
  const MissingFolders missing(folder);
  make_folder(folder, option);
  const std::string probe = (fs::path(folder) / kProbeName).string();
  write_file_atomically(probe, "");
  fs::remove(probe, ignored);
}

void make_output_folder(const std::string& folder, const std::string& option) {
  make_folder(folder, option);
  remove_stale_temporary_files(folder);
}

}  // namespace acgan
