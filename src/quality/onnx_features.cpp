#include "quality/onnx_features.h"

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

std::string python() {
  const char* const chosen = std::getenv("ACGAN_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
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
  ACGAN_CHECK(features.size() == set.values.size() * sizeof(float));
  features.read(0, std::as_writable_bytes(std::span(set.values)));
  return set;
}

void OnnxFeatures::run(const UnnamedFile& images, std::int64_t count, const UnnamedFile& features) {
  const UnnamedFile answer = UnnamedFile::in_memory();
  run_filter(
      {python(), "-", net_.file, std::to_string(count), std::to_string(height_),
       std::to_string(width_), std::to_string(channels_), net_.scale, std::to_string(net_.threads)},
      kOnnxScript, kAdvice, {&images, &features, &answer});
  take(answer.text());
}

// The line that the script answers with.
void OnnxFeatures::take(const std::string& answer) {
  std::istringstream line(answer);
  std::string kind;
  line >> kind;
  if (kind == "ok") {
    line >> facts_.id >> facts_.width;
    ACGAN_CHECK(line && facts_.width > 0);
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
  fail(ErrorKind::Output, "{} did not answer: {}", python(), kAdvice);
}

}  // namespace acgan
