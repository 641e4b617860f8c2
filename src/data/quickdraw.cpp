#include "data/quickdraw.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>

#include "base/counted.h"
#include "base/error.h"
#include "data/array_file.h"
#include "data/class_images.h"
#include "data/class_selection.h"
#include "data/data_folder.h"
#include "data/drawing_file.h"

namespace acgan {
namespace {

constexpr std::string_view kExpected =
    "quickdraw needs a folder with one file a class: .npy or .npz images, or .ndjson or .bin "
    "strokes";

std::unique_ptr<ClassImages> open_ndjson(const std::string& path) {
  return open_drawing_file(path, DrawingFormat::Ndjson);
}

std::unique_ptr<ClassImages> open_binary(const std::string& path) {
  return open_drawing_file(path, DrawingFormat::Binary);
}

struct Format {
  std::string_view extension;
  std::unique_ptr<ClassImages> (*open)(const std::string& path);
};

constexpr std::array<Format, 4> kFormats = {{{".npy", open_npy_file},
                                             {".npz", open_npz_file},
                                             {".ndjson", open_ndjson},
                                             {".bin", open_binary}}};

const Format* format_of(const std::string& file) {
  const auto format = std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& known) {
    return has_extension(file, known.extension);
  });
  return format == kFormats.end() ? nullptr : format;
}

int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

// "full%2Fnumpy" -> "full/numpy": downloads from a bucket keep the URL's escapes in their names.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low >= 0) i += 2;
    decoded += low >= 0 ? static_cast<char>(high * 16 + low) : text[i];
  }
  return decoded;
}

// The folders that the files lie in at their origin, which downloads keep in the name, with "_" or
// "/" behind each part.
std::string class_of_file(const std::string& file, const Format& format) {
  constexpr std::array<std::string_view, 5> kFolders = {"numpy_bitmap", "simplified", "raw",
                                                        "binary", "sketchrnn"};
  const std::string name =
      percent_decoded(std::string_view(file).substr(0, file.size() - format.extension.size()));
  std::string_view rest = name;
  const auto drop = [&](std::string_view part) {
    const bool is_there = rest.starts_with(part) && rest.size() > part.size() &&
                          (rest[part.size()] == '_' || rest[part.size()] == '/');
    if (is_there) rest.remove_prefix(part.size() + 1);
    return is_there;
  };
  const bool is_full = drop("full");
  const bool is_in_folder =
      std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view folder) {
        const bool is_slashed = rest.size() > folder.size() && rest[folder.size()] == '/';
        return (is_full || is_slashed) && drop(folder);
      });
  return is_in_folder ? std::string(rest) : name;
}

struct ClassFile {
  std::string file;
  const Format* format = nullptr;
};

// Class name -> its file, sorted by class.
std::map<std::string, ClassFile> find_class_files(const std::string& folder) {
  std::map<std::string, ClassFile> files;
  const FolderListing listing = list_folder(folder, kExpected);
  for (const std::string& file : listing.names()) {
    const Format* format = format_of(file);
    if (format == nullptr) continue;
    const std::string name = class_of_file(file, *format);
    const auto is_control = [](char letter) {
      return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F;
    };
    if (name.empty() || std::any_of(name.begin(), name.end(), is_control)) {
      fail(ErrorKind::Data, "'{}' gives no usable class name: name the file as its class",
           join_path(folder, file));
    }
    const auto [known, is_new] = files.emplace(name, ClassFile{.file = file, .format = format});
    if (!is_new) {
      fail(ErrorKind::Data, "'{}' and '{}' in '{}' are both of class '{}': keep one of them",
           known->second.file, file, folder, name);
    }
  }
  if (files.empty()) {
    fail(ErrorKind::Data, "'{}' holds no .npy, .npz, .ndjson or .bin file ({} and {}): {}", folder,
         counted(listing.files.size(), "other file"), counted(listing.folders.size(), "folder"),
         kExpected);
  }
  return files;
}

using Classes = std::vector<std::unique_ptr<ClassImages>>;

ImageRequest request_for(const DataConfig& config, const Classes& classes) {
  const bool has_colour = std::any_of(classes.begin(), classes.end(),
                                      [](const auto& images) { return images->channels() == 3; });
  return {.side = config.image_size,
          .channels = config.channels != 0 ? config.channels
                      : has_colour         ? 3
                                           : 1,
          .limit = config.limit_per_class,
          .only_recognized = config.only_recognized};
}

std::string describe(const DataConfig& config, const Classes& classes,
                     const ImageRequest& request) {
  const auto resized = std::count_if(classes.begin(), classes.end(), [&](const auto& images) {
    return images->is_resized(request);
  });
  std::string text = fmt::format("quickdraw, {} file{} in {}", classes.size(),
                                 classes.size() == 1 ? "" : "s", config.path);
  if (resized > 0) {
    text +=
        fmt::format(", {} of them resized to {}x{}", resized, config.image_size, config.image_size);
  }
  if (request.only_recognized) text += ", recognized drawings only";
  return text;
}

}  // namespace

Dataset load_quickdraw(const DataConfig& config) {
  const std::map<std::string, ClassFile> files = find_class_files(config.path);
  std::vector<std::string> names;
  for (const auto& [name, file] : files) names.push_back(name);
  Dataset dataset;
  Classes classes;
  const std::string where = fmt::format("among the files of '{}'", config.path);
  for (const std::size_t index : select_classes(config, names, where)) {
    const ClassFile& file = files.at(names[index]);
    classes.push_back(file.format->open(join_path(config.path, file.file)));
    dataset.class_names.push_back(names[index]);
  }

  const ImageRequest request = request_for(config, classes);
  dataset.height = dataset.width = request.side;
  dataset.channels = request.channels;
  const std::int64_t image_bytes = request.side * request.side * request.channels;
  std::int64_t known = 0;
  for (const auto& images : classes) known += images->known_count(request);
  dataset.images.reserve(static_cast<std::size_t>(known * image_bytes));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    classes[i]->append_to(dataset.images, request);
    dataset.labels.resize(dataset.images.size() / static_cast<std::size_t>(image_bytes),
                          static_cast<std::int32_t>(i));
  }
  dataset.description = describe(config, classes, request);
  return dataset;
}

}  // namespace acgan
