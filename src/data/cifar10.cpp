#include "data/cifar10.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>

#include "base/error.h"
#include "data/class_selection.h"
#include "data/data_folder.h"
#include "data/input_file.h"

namespace acgan {
namespace {

constexpr std::int64_t kSide = 32;
constexpr std::size_t kPixels = kSide * kSide;
constexpr std::size_t kRecordBytes = 1 + 3 * kPixels;           // label, red, green and blue plane
constexpr std::size_t kCifar100RecordBytes = kRecordBytes + 1;  // two labels
constexpr std::size_t kClasses = 10;
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 31;  // the real files have 30 MB
constexpr std::string_view kSubfolder = "cifar-10-batches-bin";
constexpr std::string_view kNamesFile = "batches.meta.txt";
constexpr std::string_view kTestFile = "test_batch.bin";
constexpr std::string_view kBatchPrefix = "data_batch_";
constexpr std::string_view kExpected =
    "cifar10 needs the folder cifar-10-batches-bin with data_batch_1.bin to data_batch_5.bin (the "
    "binary version)";

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_batch(const std::string& file) {
  return file.starts_with(kBatchPrefix) && file.ends_with(".bin");
}

// The number in data_batch_N.bin; only the plain form counts, so that a copy such as
// "data_batch_1 (1).bin" does not train twice.
std::int64_t batch_number(const std::string& folder, const std::string& file) {
  const std::string_view number =
      std::string_view(file).substr(kBatchPrefix.size(), file.size() - kBatchPrefix.size() - 4);
  const bool is_number =
      !number.empty() && number.size() <= 6 && number.front() != '0' &&
      std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) {
    fail(ErrorKind::Data,
         "'{}' is no batch of CIFAR-10: data_batch_1.bin, data_batch_2.bin, ... were expected; "
         "move or rename the file",
         join_path(folder, file));
  }
  return std::stoll(std::string(number));
}

std::string_view missing_hint(const FolderListing& listing) {
  const auto is_archive = [](const std::string& file) {
    return has_extension(file, ".gz") || has_extension(file, ".tar");
  };
  if (contains(listing.files, "data_batch_1")) {
    return ": it holds the python version; get the binary version";
  }
  if (contains(listing.files, "train.bin")) return ": it looks like CIFAR-100";
  if (std::any_of(listing.files.begin(), listing.files.end(), is_archive)) {
    return ": unpack the archive in it first";
  }
  return "";
}

std::vector<std::string> find_train_files(const std::string& folder, const FolderListing& listing) {
  std::set<std::int64_t> numbers;
  for (const std::string& file : listing.names()) {
    if (is_batch(file)) numbers.insert(batch_number(folder, file));
  }
  if (numbers.empty()) {
    fail(ErrorKind::Data, "'{}' holds no data_batch_*.bin{}; {}", folder, missing_hint(listing),
         kExpected);
  }
  std::vector<std::string> paths;
  for (const std::int64_t number : numbers) {
    const std::size_t expected = paths.size() + 1;
    if (number != static_cast<std::int64_t>(expected)) {
      fail(ErrorKind::Data, "'{}' holds data_batch_{}.bin but no data_batch_{}.bin: add that file",
           folder, number, expected);
    }
    paths.push_back(join_path(folder, fmt::format("{}{}.bin", kBatchPrefix, number)));
  }
  return paths;
}

std::vector<std::string> find_files(const std::string& folder, const FolderListing& listing,
                                    Cifar10Part part) {
  if (part == Cifar10Part::Train) return find_train_files(folder, listing);
  if (!contains(listing.names(), kTestFile)) {
    fail(ErrorKind::Data, "'{}' holds no {}, the test part of CIFAR-10{}", folder, kTestFile,
         missing_hint(listing));
  }
  return {join_path(folder, std::string(kTestFile))};
}

std::vector<std::string> read_class_names(const std::string& folder, const FolderListing& listing) {
  if (!contains(listing.names(), kNamesFile)) {
    return {"airplane", "automobile", "bird",  "cat",  "deer",
            "dog",      "frog",       "horse", "ship", "truck"};
  }
  constexpr std::uint64_t kMaxNamesBytes = 64 << 10;
  const std::string path = join_path(folder, std::string(kNamesFile));
  std::vector<std::string> names(1);
  for (const std::uint8_t byte : InputFile(path).read_all(kMaxNamesBytes)) {
    if (byte == '\n') {
      names.emplace_back();
    } else if (byte >= 0x20) {  // carriage returns go
      names.back() += static_cast<char>(byte);
    }
  }
  std::erase(names, "");
  const std::size_t different = std::set<std::string>(names.begin(), names.end()).size();
  if (names.size() != kClasses || different != kClasses) {
    fail(ErrorKind::Data,
         "'{}' was expected to name {} different classes, one a line, and names {} ({} different)",
         path, kClasses, names.size(), different);
  }
  return names;
}

// All records of one file, checked.
std::vector<std::uint8_t> read_records(const std::string& path) {
  std::vector<std::uint8_t> bytes = InputFile(path).read_all(kMaxFileBytes);
  if (bytes.empty()) fail(ErrorKind::Data, "'{}' is empty: get the file again", path);
  if (bytes.size() % kRecordBytes != 0) {
    const bool is_cifar100 = bytes.size() % kCifar100RecordBytes == 0;
    fail(ErrorKind::Data,
         "'{}' has {} bytes, which is no multiple of the {} bytes of a CIFAR-10 record: {}", path,
         bytes.size(), kRecordBytes,
         is_cifar100 ? "it is a multiple of 3074, the record of CIFAR-100, which is not read"
                     : "it is truncated or no batch of CIFAR-10; get the file again");
  }
  for (std::size_t record = 0; record < bytes.size() / kRecordBytes; ++record) {
    const int label = bytes[record * kRecordBytes];
    if (label >= static_cast<int>(kClasses)) {
      fail(ErrorKind::Data, "'{}' has label {} in record {} (counted from 0); 0 to 9 were expected",
           path, label, record);
    }
  }
  return bytes;
}

// Three planes of a record to interleaved pixels.
void append_image(std::span<const std::uint8_t> planes, std::vector<std::uint8_t>& images) {
  for (std::size_t i = 0; i < kPixels; ++i) {
    images.push_back(planes[i]);
    images.push_back(planes[kPixels + i]);
    images.push_back(planes[2 * kPixels + i]);
  }
}

// Appends the records of the wanted classes; label_of: CIFAR-10's label -> ours, -1 for none.
void append_records(std::span<const std::uint8_t> bytes,
                    const std::array<std::int32_t, kClasses>& label_of,
                    std::int64_t limit_per_class, Dataset& dataset) {
  std::vector<std::int64_t> counts = dataset.counts_by_class();
  for (; !bytes.empty(); bytes = bytes.subspan(kRecordBytes)) {
    const std::int32_t label = label_of[bytes[0]];
    if (label < 0) continue;
    std::int64_t& count = counts[static_cast<std::size_t>(label)];
    if (limit_per_class > 0 && count >= limit_per_class) continue;
    ++count;
    dataset.labels.push_back(label);
    append_image(bytes.subspan(1, kRecordBytes - 1), dataset.images);
  }
}

}  // namespace

Dataset load_cifar10(const DataConfig& config, Cifar10Part part) {
  if (config.image_size != kSide) {
    fail(ErrorKind::Usage, "data.image_size is {}, but CIFAR-10 has images of 32x32: set it to 32",
         config.image_size);
  }
  std::string folder = config.path;
  FolderListing listing = list_folder(folder, kExpected);
  const std::vector<std::string> found = listing.names();
  if (contains(found, kSubfolder) && std::none_of(found.begin(), found.end(), is_batch)) {
    folder = join_path(folder, std::string(kSubfolder));
    listing = list_folder(folder, kExpected);
  }
  const std::vector<std::string> paths = find_files(folder, listing, part);
  const std::vector<std::string> names = read_class_names(folder, listing);

  Dataset dataset;
  dataset.height = dataset.width = kSide;
  dataset.channels = 3;
  std::array<std::int32_t, kClasses> label_of{};
  label_of.fill(-1);
  const std::string where = fmt::format("a class of CIFAR-10 in '{}'", folder);
  for (const std::size_t index : select_classes(config, names, where)) {
    label_of[index] = static_cast<std::int32_t>(dataset.class_names.size());
    dataset.class_names.push_back(names[index]);
  }
  for (const std::string& path : paths) {
    append_records(read_records(path), label_of, config.limit_per_class, dataset);
  }
  dataset.description =
      fmt::format("cifar10 {} part, {} file{} in {}", part == Cifar10Part::Train ? "train" : "test",
                  paths.size(), paths.size() == 1 ? "" : "s", folder);
  return dataset;
}

}  // namespace acgan
