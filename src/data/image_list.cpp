#include "data/image_list.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/counted.h"
#include "base/error.h"
#include "data/class_selection.h"
#include "data/data_folder.h"

namespace acgan {
namespace {

constexpr std::array<std::string_view, 4> kExtensions = {".png", ".jpg", ".jpeg", ".bmp"};
constexpr std::size_t kMostFolders = 32;  // one within the other
constexpr std::string_view kExpected =
    "folder needs one folder a class with PNG, JPEG or BMP images in it";

bool is_image(const std::string& file) {
  return std::any_of(kExtensions.begin(), kExtensions.end(),
                     [&](std::string_view extension) { return has_extension(file, extension); });
}

// Walks a class folder and all below it.
class ClassWalk {
 public:
  explicit ClassWalk(const std::string& folder) { visit(folder); }

  std::vector<std::string> paths;
  std::size_t ignored = 0;
  std::size_t folders = 0;

 private:
  void visit(const std::string& folder);
  void enter(const std::string& folder);

  std::vector<std::filesystem::path> above_;  // the folders that are being visited, without links
};

void ClassWalk::enter(const std::string& folder) {
  std::error_code ignored_error;
  const auto real = std::filesystem::canonical(folder, ignored_error);
  if (std::find(above_.begin(), above_.end(), real) != above_.end()) {
    fail(ErrorKind::Data, "'{}' leads back to a folder that it lies in: remove that link", folder);
  }
  if (above_.size() == kMostFolders) {
    fail(ErrorKind::Data, "'{}' lies deeper than {} folders below its class: move it up", folder,
         kMostFolders);
  }
  above_.push_back(real);
}

void ClassWalk::visit(const std::string& folder) {
  enter(folder);
  const FolderListing listing = list_folder(folder, kExpected);
  // What is called like an image and is no file is reported when it is opened.
  std::vector<std::string> names = listing.files;
  names.insert(names.end(), listing.others.begin(), listing.others.end());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (is_image(name)) {
      paths.push_back(join_path(folder, name));
    } else {
      ++ignored;
    }
  }
  folders += listing.folders.size();
  for (const std::string& name : listing.folders) visit(join_path(folder, name));
  above_.pop_back();
}

// A link that leads nowhere, or a pipe, may have been meant as a class.
void check_others(const DataConfig& config, const FolderListing& listing) {
  const std::vector<std::string>& wanted = config.classes;
  for (const std::string& name : listing.others) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    fail(ErrorKind::Data,
         "'{}' is neither a folder nor a file (a link that leads nowhere, or a pipe): remove it, "
         "mend it or name the wanted classes in data.classes",
         join_path(config.path, name));
  }
}

FolderListing list_classes(const DataConfig& config) {
  const std::string& path = config.path;
  FolderListing listing = list_folder(path, kExpected);
  check_others(config, listing);
  if (listing.folders.empty()) {
    const auto images = std::count_if(listing.files.begin(), listing.files.end(), is_image);
    fail(ErrorKind::Data, "'{}' holds no class folders ({} directly in it): {}", path,
         counted(images, "image lies", "images lie"), kExpected);
  }
  return listing;
}

}  // namespace

ImageList list_images(const DataConfig& config) {
  const FolderListing listing = list_classes(config);
  ImageList list;
  list.ignored = listing.files.size() + listing.others.size();
  const std::string where = fmt::format("a folder in '{}'", config.path);
  for (const std::size_t index : select_classes(config, listing.folders, where)) {
    const std::string& name = listing.folders[index];
    const std::string folder = join_path(config.path, name);
    ClassWalk walk(folder);
    if (walk.paths.empty()) {
      fail(ErrorKind::Data,
           "class folder '{}' holds no image ({}, {}): PNG, JPEG or BMP were "
           "expected in it; add images or name the wanted classes in data.classes",
           folder, counted(walk.ignored, "other file"), counted(walk.folders, "folder"));
    }
    const auto found = static_cast<std::int64_t>(walk.paths.size());
    walk.paths.resize(static_cast<std::size_t>(limited(found, config.limit_per_class)));
    list.labels.insert(list.labels.end(), walk.paths.size(),
                       static_cast<std::int32_t>(list.class_names.size()));
    list.class_names.push_back(name);
    list.paths.insert(list.paths.end(), walk.paths.begin(), walk.paths.end());
    list.ignored += walk.ignored;
  }
  return list;
}

}  // namespace acgan
