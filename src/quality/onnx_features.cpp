#include "quality/onnx_features.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <utility>

#include "base/child_process.h"
#include "base/error.h"
#include "base/printable.h"
#include "data/input_file.h"
#include "quality/onnx_script.h"

namespace acgan {
namespace {

constexpr const char* kAdvice =
    "a feature net needs Python with numpy and onnxruntime (pip install onnxruntime); ACGAN_PYTHON "
    "names the interpreter to take";

constexpr std::size_t kMostQuoted = 100;  // characters of an answer

std::string python() {
  const char* const chosen = std::getenv("ACGAN_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
}

// Whether "ok ID WIDTH" can be true of `count` images, for which so many bytes were written.
bool holds(const std::string& id, std::int64_t width, std::int64_t count, std::uint64_t bytes) {
  if (id.size() != 64 || id.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return false;
  }
  const auto row = static_cast<std::uint64_t>(width), rows = static_cast<std::uint64_t>(count);
  return width > 0 && row <= bytes && bytes == rows * row * sizeof(float);
}

}  // namespace

OnnxFeatures::OnnxFeatures(OnnxNet net, std::int64_t height, std::int64_t width,
                           std::int64_t channels)
    : net_(std::move(net)), height_(height), width_(width), channels_(channels) {
  const InputFile exists(net_.file);
  facts_.file = net_.file;
  facts_.scale = net_.scale;
}

FeatureSet OnnxFeatures::extract(const ImageBatches& batches) {
  FeatureSet set;
  UnnamedFile images = UnnamedFile::on_disk();
  const auto image = static_cast<std::size_t>(height_ * width_ * channels_);
  std::int64_t count = 0;
  batches([&](std::span<const std::uint8_t> part, std::span<const std::int32_t> labels) {
    images.append(std::as_bytes(part));
    set.labels.insert(set.labels.end(), labels.begin(), labels.end());
    count += static_cast<std::int64_t>(part.size() / image);
  });
  const UnnamedFile features = UnnamedFile::on_disk();
  run(images, count, features);
  set.width = facts_.width;
  set.values.resize(static_cast<std::size_t>(count * set.width));
  features.read(0, std::as_writable_bytes(std::span(set.values)));
  return set;
}

void OnnxFeatures::run(const UnnamedFile& images, std::int64_t count, const UnnamedFile& features) {
  const UnnamedFile answer = UnnamedFile::in_memory();
  run_filter({python(), "-", net_.file, std::to_string(count), std::to_string(height_),
              std::to_string(width_), std::to_string(channels_), net_.scale,
              std::to_string(net_.threads), std::to_string(getpid())},
             kOnnxScript, kAdvice, {&images, &features, &answer});
  take(answer.text(), count, features.size());
}

// The line that the script answers with.
void OnnxFeatures::take(const std::string& answer, std::int64_t count,
                        std::uint64_t feature_bytes) {
  std::istringstream line(answer);
  std::string kind, id;
  std::int64_t width = 0;
  line >> kind;
  if (kind == "ok" && line >> id >> width && holds(id, width, count, feature_bytes)) {
    take_facts(id, width);
    return;
  }
  const std::string what = printable(answer.substr(std::min(answer.size(), kind.size() + 1)));
  const std::string text = what.substr(0, what.find_last_not_of(" \n") + 1);
  if (kind == "refused") {
    fail(ErrorKind::Data, "'{}' cannot be the feature net: {}", net_.file, text);
  }
  if (kind == "missing") {
    fail(ErrorKind::Output, "Python has no module {}: {}", text, kAdvice);
  }
  if (answer.empty()) fail(ErrorKind::Output, "{} did not answer: {}", python(), kAdvice);
  fail(ErrorKind::Output, "{} gave an answer that makes no sense ('{}'): {}", python(),
       printable(answer.substr(0, answer.find('\n'))).substr(0, kMostQuoted), kAdvice);
}

// Figures compare features of several extractions: all must be of one net and one width.
void OnnxFeatures::take_facts(const std::string& id, std::int64_t width) {
  if (!facts_.id.empty() && facts_.id != id) {
    fail(ErrorKind::Data, "'{}' was changed while it was in use as the feature net: start again",
         net_.file);
  }
  if (facts_.width > 0 && facts_.width != width) {
    fail(ErrorKind::Data,
         "'{}' cannot be the feature net: it gives {} features for one batch and {} for another",
         net_.file, facts_.width, width);
  }
  facts_.id = id;
  facts_.width = width;
}

}  // namespace acgan
