#include "data/image_array.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>

#include "base/error.h"
#include "data/class_selection.h"
#include "data/image.h"

namespace acgan {
namespace {

constexpr std::uint64_t kFlatSide = 28;  // of the images in rows of 784
constexpr std::uint64_t kLeastSide = 4;  // less is some other axis
constexpr std::int64_t kBlockBytes = std::int64_t{16} << 20;

std::string find_dtype_fault(const std::string& dtype) {
  constexpr std::array<std::string_view, 5> kBytes = {"|u1", "<u1", ">u1", "=u1", "u1"};
  if (std::find(kBytes.begin(), kBytes.end(), dtype) != kBytes.end()) return {};
  const char kind = dtype.find_first_of("<>|=") == 0 && dtype.size() > 1 ? dtype[1] : dtype[0];
  std::string_view hint = "convert the values to 0..255 with astype('uint8') and save it again";
  if (dtype.find('O') != std::string::npos) {
    hint = "it is an array of pickled objects, which are never unpickled; save it as uint8";
  } else if (dtype.front() == '[') {
    hint = "save the field that holds the images by itself";
  } else if (kind == 'f') {
    hint = "if its values are 0..1, multiply by 255; then save it with astype('uint8')";
  } else if (kind == 'b') {
    hint = "multiply by 255 with astype('uint8') * 255 and save it again";
  }
  return fmt::format("holds elements of type '{}' where '|u1' (uint8) was expected: {}",
                     dtype.substr(0, 80), hint);
}

bool is_flat(const std::vector<std::uint64_t>& shape) {
  return shape.size() == 2 && shape[1] == kFlatSide * kFlatSide;
}

bool is_image_shape(const std::vector<std::uint64_t>& shape) {
  if (is_flat(shape)) return true;
  if (shape.size() != 3 && shape.size() != 4) return false;
  if (shape.size() == 4 && shape[3] != 1 && shape[3] != 3) return false;
  const std::uint64_t height = shape[1], width = shape[2];
  return height >= kLeastSide && width >= kLeastSide &&
         height <= static_cast<std::uint64_t>(kMaxImagePixels) / width;
}

// The header's promise against the source's length, without a product that can overflow.
void check_length(const ByteSource& source, const NpyHeader& header, std::uint64_t image_bytes) {
  const std::uint64_t promised = header.shape[0];
  const std::uint64_t found = source.size() - header.data_offset;
  if (promised > std::numeric_limits<std::int64_t>::max() / image_bytes) {
    fail(ErrorKind::Data,
         "'{}' promises {} images of {} bytes, more than a file can hold, and holds {} bytes of "
         "them: its header is damaged",
         source.path(), promised, image_bytes, found);
  }
  const std::uint64_t expected = promised * image_bytes;
  if (found < expected) {
    fail(ErrorKind::Data,
         "'{}' is truncated: its header promises {} images of {} bytes, {} bytes in all, and {} "
         "bytes follow it: get the file again",
         source.path(), promised, image_bytes, expected, found);
  }
  if (found > expected) {
    fail(ErrorKind::Data,
         "'{}' is longer than its header says: {} images of {} bytes make {} bytes, and {} bytes "
         "follow the header: get the file again",
         source.path(), promised, image_bytes, expected, found);
  }
  if (promised == 0) {
    fail(ErrorKind::Data, "'{}' holds no images (shape {})", source.path(),
         format_shape(header.shape));
  }
}

// Where the element that is k-th in an image in Fortran order, the first axis being the fastest,
// lies in C order.
std::int64_t position_in_c(const ImageArray& array, std::int64_t k) {
  if (array.is_flat) return k;
  const std::int64_t y = k % array.height, rest = k / array.height;
  return (y * array.width + rest % array.width) * array.channels + rest / array.width;
}

// Images `first`, `first` + 1, ... into `block` [count,H,W,C]. In Fortran order an element of all
// images lies together.
void read_block(const ByteSource& source, const ImageArray& array, std::int64_t first,
                std::span<std::uint8_t> block) {
  const std::int64_t bytes = array.image_bytes();
  if (array.order == NpyOrder::C) {
    source.read(array.data_offset + static_cast<std::uint64_t>(first * bytes), block);
    return;
  }
  std::vector<std::uint8_t> column(block.size() / static_cast<std::size_t>(bytes));
  for (std::int64_t k = 0; k < bytes; ++k) {
    source.read(array.data_offset + static_cast<std::uint64_t>(k * array.count + first), column);
    auto position = static_cast<std::size_t>(position_in_c(array, k));
    for (const std::uint8_t value : column) {
      block[position] = value;
      position += static_cast<std::size_t>(bytes);
    }
  }
}

std::vector<std::uint8_t> with_channels(std::span<const std::uint8_t> pixels, std::int64_t from,
                                        std::int64_t to) {
  if (from == to) return {pixels.begin(), pixels.end()};
  std::vector<std::uint8_t> converted;
  if (to == 3) {
    for (const std::uint8_t grey : pixels) converted.insert(converted.end(), 3, grey);
  } else {
    for (std::size_t i = 0; i < pixels.size(); i += 3) {
      converted.push_back(luma(pixels[i], pixels[i + 1], pixels[i + 2]));
    }
  }
  return converted;
}

// One image of the array as it is wanted.
void convert(const ImageArray& array, std::span<const std::uint8_t> pixels,
             const ImageRequest& request, std::span<std::uint8_t> result) {
  const Image image{.height = array.height,
                    .width = array.width,
                    .channels = request.channels,
                    .pixels = with_channels(pixels, array.channels, request.channels)};
  // Grey is how much of a pixel the pen covers, an amount, so it is averaged as it is; colour is
  // what displays show.
  const PixelScale scale = array.channels == 1 ? PixelScale::Linear : PixelScale::Srgb;
  resample_square(image, scale, request.side, result);
}

}  // namespace

std::string find_image_fault(const NpyHeader& header) {
  if (std::string fault = find_dtype_fault(header.dtype); !fault.empty()) return fault;
  if (is_image_shape(header.shape)) return {};
  const bool is_channels_first =
      header.shape.size() == 4 && (header.shape[1] == 1 || header.shape[1] == 3);
  return fmt::format(
      "has shape {}; (N, 784), (N, H, W) or (N, H, W, C) with 1 or 3 channels were expected{}",
      format_shape(header.shape),
      is_channels_first ? ": move the channels to the end with transpose(0, 2, 3, 1)" : "");
}

ImageArray check_image_array(const ByteSource& source, const NpyHeader& header) {
  if (const std::string fault = find_image_fault(header); !fault.empty()) {
    fail(ErrorKind::Data, "'{}' {}", source.path(), fault);
  }
  const std::vector<std::uint64_t>& shape = header.shape;
  ImageArray array;
  array.is_flat = is_flat(shape);
  array.height = static_cast<std::int64_t>(array.is_flat ? kFlatSide : shape[1]);
  array.width = static_cast<std::int64_t>(array.is_flat ? kFlatSide : shape[2]);
  array.channels = shape.size() == 4 ? static_cast<std::int64_t>(shape[3]) : 1;
  array.order = header.order;
  array.data_offset = header.data_offset;
  check_length(source, header, static_cast<std::uint64_t>(array.image_bytes()));
  array.count = static_cast<std::int64_t>(shape[0]);
  return array;
}

void append_array_images(const ByteSource& source, const ImageArray& array,
                         const ImageRequest& request, std::vector<std::uint8_t>& images) {
  const std::int64_t count = limited(array.count, request.limit);
  const std::int64_t from_bytes = array.image_bytes();
  const std::int64_t to_bytes = request.side * request.side * request.channels;
  const bool is_as_wanted = array.height == request.side && array.width == request.side &&
                            array.channels == request.channels;
  const std::size_t before = images.size();
  images.resize(before + static_cast<std::size_t>(count * to_bytes));
  std::span<std::uint8_t> rest = std::span(images).subspan(before);
  const std::int64_t block_images = std::max<std::int64_t>(1, kBlockBytes / from_bytes);
  std::vector<std::uint8_t> block;
  for (std::int64_t first = 0; first < count; first += block_images) {
    const std::int64_t n = std::min(block_images, count - first);
    const auto result = rest.first(static_cast<std::size_t>(n * to_bytes));
    rest = rest.subspan(result.size());
    if (is_as_wanted) {
      read_block(source, array, first, result);
      continue;
    }
    block.resize(static_cast<std::size_t>(n * from_bytes));
    read_block(source, array, first, block);
    const auto from = static_cast<std::size_t>(from_bytes), to = static_cast<std::size_t>(to_bytes);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      convert(array, std::span(block).subspan(i * from, from), request, result.subspan(i * to, to));
    }
  }
}

}  // namespace acgan
