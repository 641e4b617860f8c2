#include "quality/outside_images.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "data/data_folder.h"
#include "data/input_file.h"
#include "data/npy_header.h"

namespace acgan {
namespace {

// What lies behind the header of a .npy whose elements have `element_size` bytes, once its length
// fits.
std::vector<std::uint8_t> read_elements(const InputFile& file, const NpyHeader& header,
                                        std::uint64_t count, std::uint64_t element_size) {
  const std::uint64_t expected = count * element_size, found = file.size() - header.data_offset;
  if (found != expected) {
    fail(ErrorKind::Data,
         "'{}' was expected to hold {} bytes after its header, as its shape {} says, and holds {}: "
         "write the file again",
         file.path(), expected, format_shape(header.shape), found);
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(expected));
  file.read(header.data_offset, bytes);
  return bytes;
}

void check_count(const std::string& path, const NpyHeader& header) {
  if (header.shape.empty() || header.shape[0] == 0 ||
      header.shape[0] > static_cast<std::uint64_t>(kMostJudgedImages)) {
    fail(ErrorKind::Data, "'{}' has shape {}; from 1 to {} images were expected", path,
         format_shape(header.shape), kMostJudgedImages);
  }
}

std::vector<std::uint8_t> read_images(const std::string& path, const Dataset& real) {
  const InputFile file(path);
  const NpyHeader header = read_npy_header(file);
  const auto h = static_cast<std::uint64_t>(real.height),
             w = static_cast<std::uint64_t>(real.width);
  const auto c = static_cast<std::uint64_t>(real.channels);
  check_count(path, header);
  const std::vector<std::uint64_t> row(header.shape.begin() + 1, header.shape.end());
  const bool fits = row == std::vector{h, w, c} || row == std::vector{h * w * c} ||
                    (c == 1 && row == std::vector{h, w});
  if (!fits) {
    fail(
        ErrorKind::Data,
        "'{}' has shape {}; images of the real data's size, (N, {}, {}, {}), were expected: resize "
        "them, or set data.image_size and data.channels to theirs",
        path, format_shape(header.shape), h, w, c);
  }
  if (header.dtype != "|u1" || header.order != NpyOrder::C) {
    fail(ErrorKind::Data,
         "'{}' holds elements of type '{}' in {} order; uint8 from 0 to 255 in C order was "
         "expected: save numpy.ascontiguousarray(images, 'uint8')",
         path, header.dtype.substr(0, 80), header.order == NpyOrder::C ? "C" : "Fortran");
  }
  return read_elements(file, header, header.shape[0] * h * w * c, 1);
}

// Little-endian integers of any width.
std::vector<std::int32_t> read_labels(const std::string& path, std::uint64_t images,
                                      std::int64_t classes) {
  constexpr std::array<std::pair<const char*, std::uint64_t>, 8> kTypes = {{{"|u1", 1},
                                                                            {"|i1", 1},
                                                                            {"<u2", 2},
                                                                            {"<i2", 2},
                                                                            {"<u4", 4},
                                                                            {"<i4", 4},
                                                                            {"<u8", 8},
                                                                            {"<i8", 8}}};
  const InputFile file(path);
  const NpyHeader header = read_npy_header(file);
  std::uint64_t size = 0;
  for (const auto& [type, bytes] : kTypes) size = header.dtype == type ? bytes : size;
  if (size == 0 || header.shape != std::vector{images}) {
    fail(ErrorKind::Data,
         "'{}' holds elements of type '{}' and shape {}; one integer an image, shape ({},), was "
         "expected",
         path, header.dtype.substr(0, 80), format_shape(header.shape), images);
  }
  const std::vector<std::uint8_t> bytes = read_elements(file, header, images, size);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    std::uint64_t value = 0;
    for (std::uint64_t k = size; k-- > 0;) value = value << 8 | bytes[i + k];
    if (value >= static_cast<std::uint64_t>(classes)) {
      fail(ErrorKind::Data,
           "'{}' has a label for image {} that is not from 0 to {}, the classes of the real data",
           path, i / size, classes - 1);
    }
    labels.push_back(static_cast<std::int32_t>(value));
  }
  return labels;
}

}  // namespace

OutsideImages load_outside_images(const std::string& path,
                                  const std::optional<std::string>& labels_path,
                                  const Dataset& real) {
  if (has_extension(path, ".npy")) {
    OutsideImages outside;
    outside.pixels = read_images(path, real);
    if (!labels_path) return outside;
    const auto image = static_cast<std::uint64_t>(real.height * real.width * real.channels);
    outside.labels = read_labels(*labels_path, outside.pixels.size() / image,
                                 static_cast<std::int64_t>(real.class_names.size()));
    return outside;
  }
  if (labels_path) {
    fail(ErrorKind::Usage,
         "--labels belongs to a .npy of images, but '{}' is none: the folders in it are the labels",
         path);
  }
  DataConfig config;
  config.kind = DataKind::Folder;
  config.path = path;
  config.classes = real.class_names;
  config.image_size = real.height;
  config.channels = real.channels;
  Dataset dataset = load_dataset(config, 0);
  return {.pixels = std::move(dataset.images), .labels = std::move(dataset.labels)};
}

}  // namespace acgan
