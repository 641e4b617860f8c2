#include "data/cifar.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "base/error.h"
#include "data/cifar_files.h"
#include "data/cifar_records.h"
#include "data/class_selection.h"

namespace acgan {
namespace {

constexpr std::int64_t kSide = 32;
constexpr std::size_t kPixels = kSide * kSide;
constexpr std::uint64_t kMostFileBytes = std::uint64_t{512} << 20;  // the largest real one: 160 MB
constexpr std::uint64_t kMostNamesBytes = 64 << 10;
constexpr std::string_view kBatchPrefix = "data_batch_";
constexpr std::string_view kBinaryEnding = ".bin";

bool is_batch(std::string_view name, CifarVersion version) {
  return name.starts_with(kBatchPrefix) &&
         name.ends_with(kBinaryEnding) == (version == CifarVersion::Binary);
}

std::string_view ending_of(CifarVersion version) {
  return version == CifarVersion::Binary ? kBinaryEnding : "";
}

// The number in data_batch_N; only the plain form counts, so that a copy such as
// "data_batch_1 (1).bin" does not train twice.
std::int64_t batch_number(const CifarFiles& files, const std::string& name, CifarVersion version) {
  const std::string_view ending = ending_of(version);
  std::string_view number = name;
  number.remove_prefix(kBatchPrefix.size());
  number.remove_suffix(ending.size());
  const bool is_number =
      !number.empty() && number.size() <= 6 && number.front() != '0' &&
      std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) {
    fail(ErrorKind::Data,
         "'{}' is no batch of CIFAR-10: data_batch_1{}, data_batch_2{}, ... were expected; move or "
         "rename the file",
         files.path_of(name), ending, ending);
  }
  return std::stoll(std::string(number));
}

std::vector<std::string> find_train_batches(const CifarFiles& files, CifarVersion version) {
  const std::string_view ending = ending_of(version);
  std::set<std::int64_t> numbers;
  for (const std::string& name : files.names()) {
    if (is_batch(name, version)) numbers.insert(batch_number(files, name, version));
  }
  if (numbers.empty()) {
    fail(ErrorKind::Data,
         "'{}' holds no data_batch_1.bin (binary version) and no data_batch_1 "
         "(python version), the train part of CIFAR-10",
         files.place());
  }
  std::vector<std::string> names;
  for (const std::int64_t number : numbers) {
    const std::size_t expected = names.size() + 1;
    if (number != static_cast<std::int64_t>(expected)) {
      fail(ErrorKind::Data, "'{}' holds data_batch_{}{} but no data_batch_{}{}: add that file",
           files.place(), number, ending, expected, ending);
    }
    names.push_back(fmt::format("{}{}{}", kBatchPrefix, number, ending));
  }
  return names;
}

struct Parts {
  CifarVersion version = CifarVersion::Binary;
  std::vector<std::string> names;
};

// The one file of a part, in whichever version is there.
Parts find_single(const CifarFiles& files, CifarSet set, const std::string& name,
                  std::string_view part) {
  const std::string binary = name + std::string(kBinaryEnding);
  if (files.has(binary)) return {CifarVersion::Binary, {binary}};
  if (files.has(name)) return {CifarVersion::Python, {name}};
  fail(ErrorKind::Data,
       "'{}' holds no {} (binary version) and no {} (python version), the {} part of {}",
       files.place(), binary, name, part, name_of(set));
}

Parts find_parts(const CifarFiles& files, CifarSet set, CifarPart part) {
  if (set == CifarSet::Cifar100) {
    const bool is_train = part == CifarPart::Train;
    return find_single(files, set, is_train ? "train" : "test", is_train ? "train" : "test");
  }
  if (part == CifarPart::Test) return find_single(files, set, "test_batch", "test");
  const bool has_binary =
      std::any_of(files.names().begin(), files.names().end(),
                  [](const std::string& name) { return is_batch(name, CifarVersion::Binary); });
  const CifarVersion version = has_binary ? CifarVersion::Binary : CifarVersion::Python;
  return {version, find_train_batches(files, version)};
}

std::string names_file(const CifarFormat& format) {
  const bool is_binary = format.version == CifarVersion::Binary;
  if (format.set == CifarSet::Cifar10) return is_binary ? "batches.meta.txt" : "batches.meta";
  if (!is_binary) return "meta";
  return format.labels == Cifar100Labels::Fine ? "fine_label_names.txt" : "coarse_label_names.txt";
}

std::vector<std::string> class_names(CifarFiles& files, const CifarFormat& format) {
  const std::string name = names_file(format);
  if (files.has(name)) {
    return decode_cifar_names(files.take(name, kMostNamesBytes), files.path_of(name), format);
  }
  if (format.set == CifarSet::Cifar10) {
    return {"airplane", "automobile", "bird",  "cat",  "deer",
            "dog",      "frog",       "horse", "ship", "truck"};
  }
  fail(ErrorKind::Data, "'{}' holds no {}, which names the classes of CIFAR-100: add that file",
       files.place(), name);
}

// Three planes of a record to interleaved pixels.
void append_image(std::span<const std::uint8_t> planes, std::vector<std::uint8_t>& images) {
  for (std::size_t i = 0; i < kPixels; ++i) {
    images.push_back(planes[i]);
    images.push_back(planes[kPixels + i]);
    images.push_back(planes[2 * kPixels + i]);
  }
}

// Appends the records of the wanted classes; label_of: CIFAR's label -> ours, -1 for none.
void append_records(const CifarRecords& records, const std::vector<std::int32_t>& label_of,
                    std::int64_t limit_per_class, Dataset& dataset) {
  std::vector<std::int64_t> counts = dataset.counts_by_class();
  for (std::size_t n = 0; n < records.labels.size(); ++n) {
    const std::int32_t label = label_of[records.labels[n]];
    if (label < 0) continue;
    std::int64_t& count = counts[static_cast<std::size_t>(label)];
    if (limit_per_class > 0 && count >= limit_per_class) continue;
    ++count;
    dataset.labels.push_back(label);
    append_image(records.planes(n), dataset.images);
  }
}

void check_settings(const DataConfig& config, CifarSet set) {
  if (config.image_size == kSide) return;
  fail(ErrorKind::Usage, "data.image_size is {}, but {} has images of 32x32: set it to 32",
       config.image_size, name_of(set));
}

void check_set(const CifarFiles& files, CifarSet set) {
  if (!files.is_other_set()) return;
  const bool is_cifar10 = set == CifarSet::Cifar100;
  fail(ErrorKind::Data, "'{}' holds {}, not {}: set data.kind to {}", files.place(),
       is_cifar10 ? "CIFAR-10" : "CIFAR-100", name_of(set), is_cifar10 ? "cifar10" : "cifar100");
}

Dataset load_cifar(const DataConfig& config, CifarSet set, CifarPart part) {
  check_settings(config, set);
  CifarFiles files(config.path, set);
  check_set(files, set);
  const Parts parts = find_parts(files, set, part);
  const CifarFormat format{.set = set, .version = parts.version, .labels = config.labels};
  const std::vector<std::string> names = class_names(files, format);

  Dataset dataset;
  dataset.height = dataset.width = kSide;
  dataset.channels = 3;
  std::vector<std::int32_t> label_of(names.size(), -1);
  const std::string where = fmt::format("a class of {} in '{}'", name_of(set), files.place());
  for (const std::size_t index : select_classes(config, names, where)) {
    label_of[index] = static_cast<std::int32_t>(dataset.class_names.size());
    dataset.class_names.push_back(names[index]);
  }
  for (const std::string& name : parts.names) {
    const CifarRecords records =
        decode_cifar_records(files.take(name, kMostFileBytes), files.path_of(name), format);
    append_records(records, label_of, config.limit_per_class, dataset);
  }
  dataset.description = fmt::format("{}{}, {} version, {} part, {} file{} in {}",
                                    set == CifarSet::Cifar10 ? "cifar10" : "cifar100",
                                    set == CifarSet::Cifar10                ? ""
                                    : config.labels == Cifar100Labels::Fine ? " (fine labels)"
                                                                            : " (coarse labels)",
                                    parts.version == CifarVersion::Binary ? "binary" : "python",
                                    part == CifarPart::Train ? "train" : "test", parts.names.size(),
                                    parts.names.size() == 1 ? "" : "s", files.place());
  return dataset;
}

}  // namespace

Dataset load_cifar10(const DataConfig& config, CifarPart part) {
  return load_cifar(config, CifarSet::Cifar10, part);
}

Dataset load_cifar100(const DataConfig& config, CifarPart part) {
  return load_cifar(config, CifarSet::Cifar100, part);
}

}  // namespace acgan
