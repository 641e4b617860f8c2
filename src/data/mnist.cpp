#include "data/mnist.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "data/class_selection.h"
#include "data/data_folder.h"
#include "data/idx_file.h"
#include "data/image.h"

namespace acgan {
namespace {

constexpr std::int64_t kUsualSide = 28;
constexpr std::int64_t kPaddedSide = 32;
constexpr std::size_t kUsualClasses = 10;
constexpr std::string_view kExpected =
    "mnist and fashion-mnist need a folder with train-images-idx3-ubyte and "
    "train-labels-idx1-ubyte, each plain or with .gz";

// The path of `stem` ("train-images") with one of the endings in use; plain files go before .gz.
std::string find_file(const std::string& folder, const FolderListing& listing,
                      const std::string& stem, int dimensions) {
  const std::vector<std::string> names = listing.names();
  for (const std::string_view gzip : {"", ".gz"}) {
    for (const std::string_view separator : {"-", "."}) {
      const std::string name = fmt::format("{}{}idx{}-ubyte{}", stem, separator, dimensions, gzip);
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        return join_path(folder, name);
      }
    }
  }
  fail(ErrorKind::Data, "'{}' holds no {}-idx{}-ubyte or {}-idx{}-ubyte.gz: {}", folder, stem,
       dimensions, stem, dimensions,
       stem.starts_with("t10k") ? "figures of quality need the test part beside the train part"
                                : kExpected);
}

struct Pair {
  IdxArray images, labels;
};

Pair read_pair(const std::string& folder, MnistPart part) {
  const FolderListing listing = list_folder(folder, kExpected);
  const std::string stem = part == MnistPart::Train ? "train" : "t10k";
  const std::string images_path = find_file(folder, listing, stem + "-images", 3);
  const std::string labels_path = find_file(folder, listing, stem + "-labels", 1);
  Pair pair{.images = read_idx(images_path, 3), .labels = read_idx(labels_path, 1)};
  if (pair.images.shape[0] != pair.labels.shape[0]) {
    fail(ErrorKind::Data, "'{}' holds {} images, but '{}' {} labels: they do not belong together",
         images_path, pair.images.shape[0], labels_path, pair.labels.shape[0]);
  }
  if (pair.images.shape[1] * pair.images.shape[2] > static_cast<std::uint64_t>(kMaxImagePixels)) {
    fail(ErrorKind::Data, "'{}' has images of {}x{} pixels; up to {} million are read", images_path,
         pair.images.shape[2], pair.images.shape[1], kMaxImagePixels / 1000000);
  }
  return pair;
}

std::vector<std::string> class_names(const DataConfig& config, const IdxArray& labels) {
  const std::size_t largest = *std::max_element(labels.data.begin(), labels.data.end());
  const std::size_t count = std::max(kUsualClasses, largest + 1);
  if (config.kind == DataKind::FashionMnist) {
    if (count > kUsualClasses) {
      fail(ErrorKind::Data,
           "'{}' has label {}, but Fashion-MNIST has 0 to 9: set data.kind to mnist", config.path,
           largest);
    }
    return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
            "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  }
  std::vector<std::string> names;
  for (std::size_t label = 0; label < count; ++label) names.push_back(fmt::format("{}", label));
  return names;
}

// As large as the networks want it, without resampling: black around it.
void pad(std::span<const std::uint8_t> pixels, std::span<std::uint8_t> result) {
  constexpr std::int64_t kMargin = (kPaddedSide - kUsualSide) / 2;
  std::fill(result.begin(), result.end(), std::uint8_t{0});
  for (std::int64_t y = 0; y < kUsualSide; ++y) {
    std::copy_n(pixels.begin() + y * kUsualSide, kUsualSide,
                result.begin() + (y + kMargin) * kPaddedSide + kMargin);
  }
}

void fit_image(std::span<const std::uint8_t> pixels, const IdxArray& images, std::int64_t side,
               std::span<std::uint8_t> result) {
  const auto height = static_cast<std::int64_t>(images.shape[1]);
  const auto width = static_cast<std::int64_t>(images.shape[2]);
  if (height == kUsualSide && width == kUsualSide && side == kPaddedSide) {
    pad(pixels, result);
    return;
  }
  const Image image{
      .height = height, .width = width, .channels = 1, .pixels = {pixels.begin(), pixels.end()}};
  resample_square(image, PixelScale::Linear, side, result);
}

// The images of the wanted classes; label_of: the file's label -> ours, -1 for none.
void append_images(const Pair& pair, const std::vector<std::int32_t>& label_of,
                   std::int64_t limit_per_class, Dataset& dataset) {
  const auto pixels = static_cast<std::size_t>(pair.images.shape[1] * pair.images.shape[2]);
  const auto fitted = static_cast<std::size_t>(dataset.height * dataset.width);
  std::vector<std::int64_t> counts(dataset.class_names.size(), 0);
  for (std::size_t n = 0; n < pair.labels.data.size(); ++n) {
    const std::int32_t label = label_of[pair.labels.data[n]];
    if (label < 0) continue;
    std::int64_t& count = counts[static_cast<std::size_t>(label)];
    if (limit_per_class > 0 && count >= limit_per_class) continue;
    ++count;
    dataset.labels.push_back(label);
    dataset.images.resize(dataset.images.size() + fitted);
    fit_image(std::span(pair.images.data).subspan(n * pixels, pixels), pair.images, dataset.height,
              std::span(dataset.images).last(fitted));
  }
}

}  // namespace

Dataset load_mnist(const DataConfig& config, MnistPart part) {
  const Pair pair = read_pair(config.path, part);
  const std::vector<std::string> names = class_names(config, pair.labels);
  Dataset dataset;
  dataset.height = dataset.width = config.image_size;
  dataset.channels = 1;
  std::vector<std::int32_t> label_of(names.size(), -1);
  const std::string where = fmt::format("a class of '{}'", config.path);
  for (const std::size_t index : select_classes(config, names, where)) {
    label_of[index] = static_cast<std::int32_t>(dataset.class_names.size());
    dataset.class_names.push_back(names[index]);
  }
  append_images(pair, label_of, config.limit_per_class, dataset);
  dataset.description =
      fmt::format("{} {} part, images of {}x{} in {}",
                  config.kind == DataKind::FashionMnist ? "fashion-mnist" : "mnist",
                  part == MnistPart::Train ? "train" : "test", pair.images.shape[2],
                  pair.images.shape[1], config.path);
  return dataset;
}

}  // namespace acgan
