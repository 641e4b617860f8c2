#include "data/data_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace acgan {
namespace {

char to_lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

void require_folder(const std::string& path, std::string_view expected) {
  if (path.empty()) fail(ErrorKind::Data, "data.path is not set: {}", expected);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    fail(ErrorKind::Data, "data.path '{}' does not exist: {}", path, expected);
  }
  if (error) fail(ErrorKind::Data, "data.path '{}' cannot be read: {}", path, error.message());
  if (!std::filesystem::is_directory(status)) {
    fail(ErrorKind::Data, "data.path '{}' is a file, not a folder: {}", path, expected);
  }
}

}  // namespace

std::vector<std::string> FolderListing::names() const {
  std::vector<std::string> all = files;
  all.insert(all.end(), folders.begin(), folders.end());
  all.insert(all.end(), others.begin(), others.end());
  std::sort(all.begin(), all.end());
  return all;
}

FolderListing list_folder(const std::string& path, std::string_view expected) {
  require_folder(path, expected);
  FolderListing listing;
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;  // a dangling link is neither file nor folder
    if (name.front() != '.') {
      const auto type = entry->status(ignored).type();
      auto& names = type == std::filesystem::file_type::regular     ? listing.files
                    : type == std::filesystem::file_type::directory ? listing.folders
                                                                    : listing.others;
      names.push_back(name);
    }
    entry.increment(error);
  }
  if (error) fail(ErrorKind::Data, "folder '{}' cannot be read: {}", path, error.message());
  std::sort(listing.files.begin(), listing.files.end());
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.others.begin(), listing.others.end());
  return listing;
}

bool has_extension(std::string_view name, std::string_view extension) {
  if (name.size() <= extension.size()) return false;
  const std::string_view end = name.substr(name.size() - extension.size());
  return std::equal(end.begin(), end.end(), extension.begin(),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

std::string join_path(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace acgan
