#include "data/cifar_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <utility>

#include "base/error.h"
#include "data/data_folder.h"
#include "data/input_file.h"

namespace acgan {
namespace {

// The whole archives expand to less than 200 MB, their largest file has 160 MB.
constexpr std::uint64_t kMostArchiveBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostMemberBytes = std::uint64_t{512} << 20;

constexpr std::array<std::string_view, 2> kCifar10Folders = {"cifar-10-batches-bin",
                                                             "cifar-10-batches-py"};
constexpr std::array<std::string_view, 2> kCifar100Folders = {"cifar-100-binary",
                                                              "cifar-100-python"};
constexpr std::array<std::string_view, 2> kCifar10Archives = {"cifar-10-binary.tar.gz",
                                                              "cifar-10-python.tar.gz"};
constexpr std::array<std::string_view, 2> kCifar100Archives = {"cifar-100-binary.tar.gz",
                                                               "cifar-100-python.tar.gz"};
constexpr std::array<std::string_view, 7> kCifar100Files = {
    "train.bin", "test.bin", "fine_label_names.txt", "coarse_label_names.txt", "train",
    "test",      "meta"};

std::span<const std::string_view> folders_of(CifarSet set) {
  return set == CifarSet::Cifar10 ? kCifar10Folders : kCifar100Folders;
}

std::span<const std::string_view> archives_of(CifarSet set) {
  return set == CifarSet::Cifar10 ? kCifar10Archives : kCifar100Archives;
}

std::string expected(CifarSet set) {
  const std::string_view files = set == CifarSet::Cifar10
                                     ? "data_batch_1.bin to data_batch_5.bin (binary version) or "
                                       "data_batch_1 to data_batch_5 (python version)"
                                     : "train.bin (binary version) or train (python version)";
  const auto folders = folders_of(set);
  const auto archives = archives_of(set);
  return fmt::format("{} needs the folder {} or {} with {}, or the archive {} or {}",
                     set == CifarSet::Cifar10 ? "cifar10" : "cifar100", folders[0], folders[1],
                     files, archives[0], archives[1]);
}

bool is_file_of(CifarSet set, std::string_view name) {
  if (set == CifarSet::Cifar100)
    return std::ranges::find(kCifar100Files, name) != kCifar100Files.end();
  return name.starts_with("data_batch_") || name.starts_with("test_batch") ||
         name.starts_with("batches.meta");
}

// Names that mean a set by themselves: "train" and "test" may be anything.
bool is_sure_file_of(CifarSet set, std::string_view name) {
  return set == CifarSet::Cifar10 ? is_file_of(set, name)
                                  : name == "train.bin" || name == "fine_label_names.txt";
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool holds_set(const std::vector<std::string>& names, CifarSet set) {
  const bool is_sure = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return is_sure_file_of(set, name);
  });
  if (is_sure || set == CifarSet::Cifar10) return is_sure;
  return contains(names, "meta") && (contains(names, "train") || contains(names, "test"));
}

bool is_archive_name(std::string_view name) {
  return has_extension(name, ".tar.gz") || has_extension(name, ".tgz") ||
         has_extension(name, ".tar");
}

}  // namespace

std::string_view name_of(CifarSet set) {
  return set == CifarSet::Cifar10 ? "CIFAR-10" : "CIFAR-100";
}

CifarFiles::CifarFiles(const std::string& path, CifarSet set) : set_(set) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored) && is_archive_name(path)) {
    open_archive(path);
    return;
  }
  open_folder(path);
  if (holds_set(names_, set)) return;
  for (const std::string_view folder : folders_of(set)) {
    if (!has(folder)) continue;
    open_folder(join_path(path, std::string(folder)));
    return;
  }
  for (const std::string_view archive : archives_of(set)) {
    if (!has(archive)) continue;
    open_archive(join_path(path, std::string(archive)));
    return;
  }
  if (is_other_set()) return;
  fail(ErrorKind::Data, "'{}' holds no files of {}: {}", path, name_of(set), expected(set));
}

bool CifarFiles::has(std::string_view name) const { return contains(names_, name); }

bool CifarFiles::is_other_set() const {
  const CifarSet other = set_ == CifarSet::Cifar10 ? CifarSet::Cifar100 : CifarSet::Cifar10;
  return !holds_set(names_, set_) && holds_set(names_, other);
}

std::string CifarFiles::path_of(const std::string& name) const {
  return is_archive_ ? fmt::format("{}:{}", place_, name) : join_path(place_, name);
}

std::vector<std::uint8_t> CifarFiles::take(const std::string& name, std::uint64_t limit) {
  ACGAN_CHECK(has(name));
  if (!is_archive_) return InputFile(path_of(name)).read_all(limit);
  std::vector<std::uint8_t> bytes = std::exchange(files_.at(name), {});
  if (bytes.size() > limit) {
    fail(ErrorKind::Data, "'{}' has {} bytes, more than the {} that are read from such a file",
         path_of(name), bytes.size(), limit);
  }
  return bytes;
}

void CifarFiles::open_folder(const std::string& path) {
  names_ = list_folder(path, expected(set_)).names();
  place_ = path;
}

void CifarFiles::open_archive(const std::string& path) {
  files_ = read_archive(path, {.is_wanted =
                                   [](std::string_view name) {
                                     return is_file_of(CifarSet::Cifar10, name) ||
                                            is_file_of(CifarSet::Cifar100, name);
                                   },
                               .most_bytes_a_file = kMostMemberBytes,
                               .most_bytes = kMostArchiveBytes});
  names_.clear();
  for (const auto& [name, bytes] : files_) names_.push_back(name);
  place_ = path;
  is_archive_ = true;
  if (!holds_set(names_, set_) && !is_other_set()) {
    fail(ErrorKind::Data, "archive '{}' holds no files of {}: {}", path, name_of(set_),
         expected(set_));
  }
}

}  // namespace acgan
