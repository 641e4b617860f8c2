#include "data/image_folder.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/counted.h"
#include "base/error.h"
#include "data/image.h"
#include "data/image_cache.h"
#include "data/image_list.h"
#include "data/input_file.h"

namespace acgan {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{256} << 20;

// Pixels of photographs are encoded for displays; averaging the light itself keeps fine bright
// detail as bright as it looked.
void load_image(const std::string& path, std::int64_t channels, std::int64_t image_size,
                std::span<std::uint8_t> pixels) {
  const std::vector<std::uint8_t> bytes = InputFile(path).read_all(kMaxFileBytes);
  resample_square(decode_image(bytes, path, channels), PixelScale::Srgb, image_size, pixels);
}

// Images that could not be read: how many, and why the first ones.
class Unreadable {
 public:
  void add(std::string reason) {
    constexpr std::size_t kMostReasons = 10;
    ++count_;
    if (reasons_.size() < kMostReasons) reasons_.push_back(std::move(reason));
  }
  std::size_t count() const { return count_; }
  std::string reasons() const {
    const std::size_t more = count_ - reasons_.size();
    return fmt::format("{}{}", fmt::join(reasons_, "; "),
                       more > 0 ? fmt::format("; and {} more", more) : "");
  }

 private:
  std::size_t count_ = 0;
  std::vector<std::string> reasons_;
};

void check_readable(const DataConfig& config, const Unreadable& unreadable, std::size_t files) {
  const std::size_t count = unreadable.count();
  if (count == 0 || (config.skip_unreadable && count < files)) return;
  fail(ErrorKind::Data, "{} of {} images in '{}' cannot be read: {}; mend or remove them{}", count,
       files, config.path, unreadable.reasons(),
       config.skip_unreadable ? "" : ", or set data.skip_unreadable to true to leave them out");
}

// One image into its place; why not, where it cannot be read.
std::optional<std::string> try_load(const DataConfig& config, const std::string& path,
                                    std::span<std::uint8_t> pixels) {
  try {
    load_image(path, config.channels == 1 ? 1 : 3, config.image_size, pixels);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

CachedImages decode_images(const DataConfig& config, const ImageList& list,
                           std::size_t image_bytes) {
  const auto count = static_cast<std::int64_t>(list.paths.size());
  std::vector<std::uint8_t> images(list.paths.size() * image_bytes);
  std::vector<std::optional<std::string>> problems(list.paths.size());
  std::exception_ptr failure;  // what is thrown must not leave its thread
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    try {
      problems[at] = try_load(config, list.paths[at],
                              std::span(images).subspan(at * image_bytes, image_bytes));
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);

  CachedImages decoded;
  Unreadable unreadable;
  auto end = images.begin();  // of those that are kept
  for (std::size_t i = 0; i < problems.size(); ++i) {
    decoded.is_kept.push_back(problems[i] ? 0 : 1);
    if (problems[i]) {
      unreadable.add(*std::move(problems[i]));
      continue;
    }
    const auto image = images.begin() + static_cast<std::ptrdiff_t>(i * image_bytes);
    end = std::copy(image, image + static_cast<std::ptrdiff_t>(image_bytes), end);
  }
  check_readable(config, unreadable, list.paths.size());
  images.erase(end, images.end());
  decoded.images = std::move(images);
  return decoded;
}

struct Loaded {
  CachedImages images;
  std::string note;  // about the cache, for the description
};

Loaded load_images(const DataConfig& config, const ImageList& list, std::size_t image_bytes) {
  if (!config.cache) return {decode_images(config, list, image_bytes), ""};
  const ImageCache cache(config, list.paths);
  if (auto cached = cache.load()) return {*std::move(cached), ", decoded before"};
  CachedImages images = decode_images(config, list, image_bytes);
  const auto why_not = cache.store(images);
  return {std::move(images),
          why_not ? fmt::format(", not kept for the next start ({})", *why_not) : ""};
}

std::string describe(const DataConfig& config, const ImageList& list, const Loaded& loaded) {
  std::string text = fmt::format("folder, {} in {}",
                                 counted(list.class_names.size(), "class", "classes"), config.path);
  if (list.ignored > 0) text += fmt::format(", {} ignored", counted(list.ignored, "other file"));
  const std::vector<std::uint8_t>& is_kept = loaded.images.is_kept;
  const auto first = std::find(is_kept.begin(), is_kept.end(), std::uint8_t{0});
  if (first != is_kept.end()) {
    const auto skipped = std::count(first, is_kept.end(), std::uint8_t{0});
    text += fmt::format(", {} skipped (the first: {})", counted(skipped, "unreadable image"),
                        list.paths[static_cast<std::size_t>(first - is_kept.begin())]);
  }
  return text + loaded.note;
}

}  // namespace

Dataset load_image_folder(const DataConfig& config) {
  const ImageList list = list_images(config);
  Dataset dataset;
  dataset.height = dataset.width = config.image_size;
  dataset.channels = config.channels == 1 ? 1 : 3;
  dataset.class_names = list.class_names;
  Loaded loaded = load_images(
      config, list, static_cast<std::size_t>(dataset.height * dataset.width * dataset.channels));
  for (std::size_t i = 0; i < list.paths.size(); ++i) {
    if (loaded.images.is_kept[i] == 1) dataset.labels.push_back(list.labels[i]);
  }
  dataset.description = describe(config, list, loaded);
  dataset.images = std::move(loaded.images.images);
  return dataset;
}

}  // namespace acgan
