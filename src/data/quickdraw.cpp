#include "data/quickdraw.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <span>
#include <string_view>

#include "base/error.h"
#include "data/class_selection.h"
#include "data/data_folder.h"
#include "data/image.h"
#include "data/input_file.h"
#include "data/npy_header.h"

namespace acgan {
namespace {

constexpr std::string_view kExtension = ".npy";
constexpr std::int64_t kFlatSide = 28;  // side of the images in rows of 784
constexpr std::string_view kExpected =
    "quickdraw needs a folder with one .npy file of 28x28 bitmaps a class";

// One class: what its file holds and how much of it is wanted.
struct Bitmaps {
  std::string path;
  NpyHeader header;
  std::int64_t available = 0;
  std::int64_t count = 0;  // after limit_per_class
  std::int64_t side = 0;   // pixels
};

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

std::string class_of_file(const std::string& file) {
  constexpr std::array<std::string_view, 3> kPrefixes = {"full_numpy_bitmap_", "full/numpy_bitmap/",
                                                         "numpy_bitmap/"};
  std::string name =
      percent_decoded(std::string_view(file).substr(0, file.size() - kExtension.size()));
  for (const std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix)) {
      name.erase(0, prefix.size());
      break;
    }
  }
  return name;
}

// Class name -> file name, sorted by class.
std::map<std::string, std::string> find_class_files(const std::string& folder) {
  std::map<std::string, std::string> files;
  const FolderListing listing = list_folder(folder, kExpected);
  for (const std::string& file : listing.names()) {
    if (!has_extension(file, kExtension)) continue;
    const std::string name = class_of_file(file);
    const auto is_control = [](char letter) {
      return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F;
    };
    if (name.empty() || std::any_of(name.begin(), name.end(), is_control)) {
      fail(ErrorKind::Data, "'{}' gives no usable class name: name the file as its class",
           join_path(folder, file));
    }
    const auto [known, is_new] = files.emplace(name, file);
    if (!is_new) {
      fail(ErrorKind::Data, "'{}' and '{}' in '{}' are both of class '{}': keep one of them",
           known->second, file, folder, name);
    }
  }
  if (files.empty()) {
    fail(ErrorKind::Data, "'{}' holds no .npy file ({} other files and {} folders): {}", folder,
         listing.files.size(), listing.folders.size(), kExpected);
  }
  return files;
}

void check_dtype(const std::string& path, const NpyHeader& header) {
  if (header.dtype == "|u1") return;
  std::string_view hint = "convert the array with astype('uint8') and save it again";
  if (header.dtype.find('O') != std::string::npos) {
    hint = "it is an array of pickled objects, which are never unpickled; save it as uint8";
  }
  fail(ErrorKind::Data, "'{}' holds elements of type '{}' where '|u1' (uint8) was expected: {}",
       path, header.dtype.substr(0, 80), hint);
}

std::int64_t side_of(const std::string& path, const std::vector<std::uint64_t>& shape) {
  constexpr std::uint64_t kMaxSide = 8192;  // kMaxImagePixels in a square
  static_assert(kMaxSide * kMaxSide == static_cast<std::uint64_t>(kMaxImagePixels));
  if (shape.size() == 2 && shape[1] == kFlatSide * kFlatSide) return kFlatSide;
  const bool is_square = (shape.size() == 3 || (shape.size() == 4 && shape[3] == 1)) &&
                         shape[1] == shape[2] && shape[1] > 0 && shape[1] <= kMaxSide;
  if (!is_square) {
    fail(ErrorKind::Data,
         "'{}' has shape {}; (N, 784), (N, 28, 28), (N, 28, 28, 1) or another square size were "
         "expected",
         path, format_shape(shape));
  }
  return static_cast<std::int64_t>(shape[1]);
}

// The header's promise against the file's length, without computing a product that can overflow.
void check_length(const InputFile& file, const NpyHeader& header, std::int64_t side) {
  const std::uint64_t image_bytes = static_cast<std::uint64_t>(side * side);
  const std::uint64_t promised = header.shape[0];
  const std::uint64_t found = file.size() - header.data_offset;
  if (promised > std::numeric_limits<std::int64_t>::max() / image_bytes) {
    fail(ErrorKind::Data,
         "'{}' promises {} images of {} bytes, more than a file can hold, and holds {} bytes of "
         "them: its header is damaged",
         file.path(), promised, image_bytes, found);
  }
  const std::uint64_t expected = promised * image_bytes;
  if (found < expected) {
    fail(ErrorKind::Data,
         "'{}' is truncated: its header promises {} images of {} bytes, {} bytes in all, and {} "
         "bytes follow it: get the file again",
         file.path(), promised, image_bytes, expected, found);
  }
  if (found > expected) {
    fail(ErrorKind::Data,
         "'{}' is longer than its header says: {} images of {} bytes make {} bytes, and {} bytes "
         "follow the header: get the file again",
         file.path(), promised, image_bytes, expected, found);
  }
  if (promised == 0) {
    fail(ErrorKind::Data, "'{}' holds no images (shape {})", file.path(),
         format_shape(header.shape));
  }
}

Bitmaps inspect(const std::string& path, std::int64_t limit_per_class) {
  const InputFile file(path);
  Bitmaps bitmaps;
  bitmaps.path = path;
  bitmaps.header = read_npy_header(file);
  check_dtype(path, bitmaps.header);
  bitmaps.side = side_of(path, bitmaps.header.shape);
  check_length(file, bitmaps.header, bitmaps.side);
  bitmaps.available = static_cast<std::int64_t>(bitmaps.header.shape[0]);
  bitmaps.count = limited(bitmaps.available, limit_per_class);
  return bitmaps;
}

// In Fortran order a pixel of all images lies together: pixel after pixel, those of the wanted
// images are read and scattered. The first image axis is then the faster one, so that for 3 and 4
// axes the pixels come column after column.
void read_fortran(const InputFile& file, const Bitmaps& bitmaps, std::span<std::uint8_t> images) {
  const std::int64_t pixels = bitmaps.side * bitmaps.side;
  const bool is_flat = bitmaps.header.shape.size() == 2;
  std::vector<std::uint8_t> column(static_cast<std::size_t>(bitmaps.count));
  for (std::int64_t k = 0; k < pixels; ++k) {
    file.read(bitmaps.header.data_offset + static_cast<std::uint64_t>(k * bitmaps.available),
              column);
    const std::int64_t pixel = is_flat ? k : k % bitmaps.side * bitmaps.side + k / bitmaps.side;
    for (std::int64_t n = 0; n < bitmaps.count; ++n) {
      images[static_cast<std::size_t>(n * pixels + pixel)] = column[static_cast<std::size_t>(n)];
    }
  }
}

// `images`: [count, side, side] of the file's own side.
void read_images(const Bitmaps& bitmaps, std::span<std::uint8_t> images) {
  const InputFile file(bitmaps.path);
  if (bitmaps.header.order == NpyOrder::C) {
    file.read(bitmaps.header.data_offset, images);
  } else {
    read_fortran(file, bitmaps, images);
  }
}

void read_resized(const Bitmaps& bitmaps, std::int64_t image_size, std::span<std::uint8_t> images) {
  const auto pixels = static_cast<std::size_t>(bitmaps.side * bitmaps.side);
  const auto resized = static_cast<std::size_t>(image_size * image_size);
  std::vector<std::uint8_t> original(static_cast<std::size_t>(bitmaps.count) * pixels);
  read_images(bitmaps, original);
  Image image{.height = bitmaps.side, .width = bitmaps.side, .channels = 1, .pixels = {}};
  for (std::size_t n = 0; n < static_cast<std::size_t>(bitmaps.count); ++n) {
    const auto begin = original.begin() + static_cast<std::ptrdiff_t>(n * pixels);
    image.pixels.assign(begin, begin + static_cast<std::ptrdiff_t>(pixels));
    // Grey is how much of a pixel the pen covers, an amount, so it is averaged as it is.
    resample_square(image, PixelScale::Linear, image_size, images.subspan(n * resized, resized));
  }
}

std::string describe(const DataConfig& config, const std::vector<Bitmaps>& classes) {
  const auto resized = std::count_if(classes.begin(), classes.end(), [&](const Bitmaps& bitmaps) {
    return bitmaps.side != config.image_size;
  });
  std::string text = fmt::format("quickdraw, {} file{} in {}", classes.size(),
                                 classes.size() == 1 ? "" : "s", config.path);
  if (resized > 0) {
    text +=
        fmt::format(", {} of them resized to {}x{}", resized, config.image_size, config.image_size);
  }
  return text;
}

}  // namespace

Dataset load_quickdraw(const DataConfig& config) {
  const std::map<std::string, std::string> files = find_class_files(config.path);
  std::vector<std::string> names, paths;
  for (const auto& [name, file] : files) {
    names.push_back(name);
    paths.push_back(join_path(config.path, file));
  }
  Dataset dataset;
  dataset.height = dataset.width = config.image_size;
  dataset.channels = 1;
  std::vector<Bitmaps> classes;
  std::int64_t total = 0;
  const std::string where = fmt::format("among the .npy files of '{}'", config.path);
  for (const std::size_t index : select_classes(config, names, where)) {
    classes.push_back(inspect(paths[index], config.limit_per_class));
    dataset.class_names.push_back(names[index]);
    dataset.labels.insert(dataset.labels.end(), static_cast<std::size_t>(classes.back().count),
                          static_cast<std::int32_t>(classes.size() - 1));
    total += classes.back().count;
  }

  const std::int64_t pixels = config.image_size * config.image_size;
  dataset.images.resize(static_cast<std::size_t>(total * pixels));
  std::span<std::uint8_t> rest = dataset.images;
  for (const Bitmaps& bitmaps : classes) {
    const auto bytes = static_cast<std::size_t>(bitmaps.count * pixels);
    if (bitmaps.side == config.image_size) {
      read_images(bitmaps, rest.first(bytes));
    } else {
      read_resized(bitmaps, config.image_size, rest.first(bytes));
    }
    rest = rest.subspan(bytes);
  }
  dataset.description = describe(config, classes);
  return dataset;
}

}  // namespace acgan
