#include "data/image_folder.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/error.h"
#include "data/class_selection.h"
#include "data/data_folder.h"
#include "data/image.h"
#include "data/input_file.h"

namespace acgan {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{256} << 20;
constexpr std::array<std::string_view, 4> kExtensions = {".png", ".jpg", ".jpeg", ".bmp"};
constexpr std::string_view kExpected =
    "folder needs one folder a class with PNG, JPEG or BMP images in it";

bool is_image(const std::string& file) {
  return std::any_of(kExtensions.begin(), kExtensions.end(),
                     [&](std::string_view extension) { return has_extension(file, extension); });
}

struct ClassImages {
  std::vector<std::string> paths;
  std::size_t ignored = 0;  // other files, and folders
};

ClassImages find_images(const std::string& folder, std::int64_t limit_per_class) {
  const FolderListing listing = list_folder(folder, kExpected);
  ClassImages images;
  const std::vector<std::string> names = listing.names();
  for (const std::string& name : names) {
    if (is_image(name)) images.paths.push_back(join_path(folder, name));
  }
  images.ignored = names.size() - images.paths.size();
  if (images.paths.empty()) {
    fail(ErrorKind::Data,
         "class folder '{}' holds no image ({} other files, {} folders): PNG, JPEG or BMP were "
         "expected directly in it; add images or name the wanted classes in data.classes",
         folder, listing.files.size(), listing.folders.size());
  }
  const auto count = static_cast<std::int64_t>(images.paths.size());
  images.paths.resize(static_cast<std::size_t>(limited(count, limit_per_class)));
  return images;
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
    fail(ErrorKind::Data, "'{}' holds no class folders ({} images lie directly in it): {}", path,
         images, kExpected);
  }
  return listing;
}

// Pixels of photographs are encoded for displays; averaging the light itself keeps fine bright
// detail as bright as it looked.
void load_image(const std::string& path, std::int64_t channels, std::int64_t image_size,
                std::span<std::uint8_t> pixels) {
  const std::vector<std::uint8_t> bytes = InputFile(path).read_all(kMaxFileBytes);
  resample_square(decode_image(bytes, path, channels), PixelScale::Srgb, image_size, pixels);
}

}  // namespace

Dataset load_image_folder(const DataConfig& config) {
  const FolderListing listing = list_classes(config);
  Dataset dataset;
  dataset.height = dataset.width = config.image_size;
  dataset.channels = config.channels == 1 ? 1 : 3;
  std::vector<std::string> paths;
  std::size_t ignored = listing.files.size() + listing.others.size();
  const std::string where = fmt::format("a folder in '{}'", config.path);
  for (const std::size_t index : select_classes(config, listing.folders, where)) {
    const std::string& name = listing.folders[index];
    const ClassImages images = find_images(join_path(config.path, name), config.limit_per_class);
    dataset.labels.insert(dataset.labels.end(), images.paths.size(),
                          static_cast<std::int32_t>(dataset.class_names.size()));
    dataset.class_names.push_back(name);
    paths.insert(paths.end(), images.paths.begin(), images.paths.end());
    ignored += images.ignored;
  }

  const auto image_bytes =
      static_cast<std::size_t>(dataset.height * dataset.width * dataset.channels);
  dataset.images.resize(paths.size() * image_bytes);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    load_image(paths[i], dataset.channels, config.image_size,
               std::span(dataset.images).subspan(i * image_bytes, image_bytes));
  }
  dataset.description =
      fmt::format("folder, {} classes in {}", dataset.class_names.size(), config.path);
  if (ignored > 0) {
    dataset.description +=
        fmt::format(", {} entr{} of other kinds ignored", ignored, ignored == 1 ? "y" : "ies");
  }
  return dataset;
}

}  // namespace acgan
