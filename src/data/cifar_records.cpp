#include "data/cifar_records.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "data/pickle.h"

namespace acgan {
namespace {

constexpr std::size_t kImageBytes = std::size_t{3} * 32 * 32;
constexpr std::size_t kFineClasses = 100;
constexpr std::size_t kCoarseClasses = 20;
constexpr std::size_t kCifar10Classes = 10;

std::size_t record_bytes(CifarSet set) {
  return kImageBytes + (set == CifarSet::Cifar10 ? 1 : 2);  // CIFAR-100: coarse, then fine label
}

void check_label(std::int64_t label, std::size_t classes, std::size_t record,
                 const std::string& path) {
  if (label >= 0 && label < static_cast<std::int64_t>(classes)) return;
  fail(ErrorKind::Data, "'{}' has label {} in record {} (counted from 0); 0 to {} were expected",
       path, label, record, classes - 1);
}

void check_length(std::size_t bytes, const std::string& path, CifarSet set) {
  if (bytes == 0) fail(ErrorKind::Data, "'{}' is empty: get the file again", path);
  if (bytes % record_bytes(set) == 0) return;
  const CifarSet other = set == CifarSet::Cifar10 ? CifarSet::Cifar100 : CifarSet::Cifar10;
  const bool is_other = bytes % record_bytes(other) == 0;
  const std::string advice =
      is_other ? fmt::format("it is a multiple of {}, the record of {}: set data.kind to {}",
                             record_bytes(other), name_of(other),
                             other == CifarSet::Cifar10 ? "cifar10" : "cifar100")
               : fmt::format("it is truncated or no batch of {}; get the file again", name_of(set));
  fail(ErrorKind::Data,
       "'{}' has {} bytes, which is no multiple of the {} bytes of a {} record: {}", path, bytes,
       record_bytes(set), name_of(set), advice);
}

CifarRecords decode_binary(std::vector<std::uint8_t> bytes, const std::string& path,
                           const CifarFormat& format) {
  check_length(bytes.size(), path, format.set);
  const std::size_t stride = record_bytes(format.set);
  const std::size_t label_bytes = stride - kImageBytes;
  const bool is_second = label_bytes == 2 && format.labels == Cifar100Labels::Fine;
  CifarRecords records{.bytes = {}, .first = label_bytes, .stride = stride, .labels = {}};
  for (std::size_t n = 0; n < bytes.size() / stride; ++n) {
    const std::uint8_t* labels = bytes.data() + n * stride;
    if (format.set == CifarSet::Cifar100) {
      check_label(labels[0], kCoarseClasses, n, path);
      check_label(labels[1], kFineClasses, n, path);
    } else {
      check_label(labels[0], kCifar10Classes, n, path);
    }
    records.labels.push_back(labels[is_second ? 1 : 0]);
  }
  records.bytes = std::move(bytes);
  return records;
}

std::string_view labels_key(const CifarFormat& format) {
  if (format.set == CifarSet::Cifar10) return "labels";
  return format.labels == Cifar100Labels::Fine ? "fine_labels" : "coarse_labels";
}

void check_set(const Pickle& pickle, const std::string& path, CifarSet set) {
  const bool is_other = set == CifarSet::Cifar10
                            ? pickle.has("fine_labels") && !pickle.has("labels")
                            : pickle.has("labels") && !pickle.has("fine_labels");
  if (!is_other) return;
  const bool is_cifar10 = set == CifarSet::Cifar100;
  fail(ErrorKind::Data, "'{}' is a batch of {}, not of {}: set data.kind to {}", path,
       is_cifar10 ? "CIFAR-10" : "CIFAR-100", name_of(set), is_cifar10 ? "cifar10" : "cifar100");
}

// Rows one behind the other, whatever order the array has.
std::vector<std::uint8_t> rows_of(const PickleArray& array) {
  if (!array.is_column_major) return {array.data.begin(), array.data.end()};
  std::vector<std::uint8_t> rows(array.data.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i % array.rows * array.columns + i / array.rows] = array.data[i];
  }
  return rows;
}

CifarRecords decode_python(std::vector<std::uint8_t> bytes, const std::string& path,
                           const CifarFormat& format) {
  const Pickle pickle(std::move(bytes), path);
  check_set(pickle, path, format.set);
  const PickleArray& array = pickle.array("data");
  const std::vector<std::int64_t> labels = pickle.integers(labels_key(format));
  if (array.columns != kImageBytes || array.rows == 0 || array.rows != labels.size()) {
    fail(ErrorKind::Data,
         "'{}' has data of shape ({}, {}) and {} labels; as many rows of {} bytes as labels were "
         "expected",
         path, array.rows, array.columns, labels.size(), kImageBytes);
  }
  CifarRecords records{.bytes = rows_of(array), .first = 0, .stride = kImageBytes, .labels = {}};
  for (std::size_t n = 0; n < labels.size(); ++n) {
    check_label(labels[n], format.classes(), n, path);
    records.labels.push_back(static_cast<std::uint8_t>(labels[n]));
  }
  return records;
}

std::vector<std::string> names_in_lines(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::string> names(1);
  for (const std::uint8_t byte : bytes) {
    if (byte == '\n') {
      names.emplace_back();
    } else if (byte >= 0x20) {  // carriage returns go
      names.back() += static_cast<char>(byte);
    }
  }
  std::erase(names, "");
  return names;
}

std::string_view names_key(const CifarFormat& format) {
  if (format.set == CifarSet::Cifar10) return "label_names";
  return format.labels == Cifar100Labels::Fine ? "fine_label_names" : "coarse_label_names";
}

}  // namespace

std::size_t CifarFormat::classes() const {
  if (set == CifarSet::Cifar10) return kCifar10Classes;
  return labels == Cifar100Labels::Fine ? kFineClasses : kCoarseClasses;
}

std::span<const std::uint8_t> CifarRecords::planes(std::size_t n) const {
  return std::span(bytes).subspan(first + n * stride, kImageBytes);
}

CifarRecords decode_cifar_records(std::vector<std::uint8_t> bytes, const std::string& path,
                                  const CifarFormat& format) {
  return format.version == CifarVersion::Binary ? decode_binary(std::move(bytes), path, format)
                                                : decode_python(std::move(bytes), path, format);
}

std::vector<std::string> decode_cifar_names(std::vector<std::uint8_t> bytes,
                                            const std::string& path, const CifarFormat& format) {
  const bool is_binary = format.version == CifarVersion::Binary;
  const std::vector<std::string> names =
      is_binary ? names_in_lines(bytes) : Pickle(std::move(bytes), path).texts(names_key(format));
  const std::size_t different = std::set<std::string>(names.begin(), names.end()).size();
  if (names.size() != format.classes() || different != names.size()) {
    fail(ErrorKind::Data,
         "'{}' was expected to name {} different classes{} and names {} ({} different)", path,
         format.classes(), is_binary ? ", one a line," : "", names.size(), different);
  }
  return names;
}

}  // namespace acgan
