#include "train/golden_case.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace acgan::test {
namespace {

template <typename Stored, typename Result>
std::vector<Result> convert(const Checkpoint::Array& array) {
  std::vector<Stored> stored(array.bytes.size() / sizeof(Stored));
  std::memcpy(stored.data(), array.bytes.data(), array.bytes.size());
  return std::vector<Result>(stored.begin(), stored.end());
}

constexpr std::array<std::pair<const char*, const char*>, 16> kLayers{{
    {"generator.dense1", "g_fc1"},
    {"generator.batch_norm1", "g_bn1"},
    {"generator.dense2", "g_fc2"},
    {"generator.batch_norm2", "g_bn2"},
    {"generator.deconv3", "g_dc3"},
    {"generator.batch_norm3", "g_bn3"},
    {"generator.deconv4", "g_dc4"},
    {"discriminator.conv1", "d_conv1"},
    {"discriminator.conv2", "d_conv2"},
    {"discriminator.batch_norm2", "d_bn2"},
    {"discriminator.dense3", "d_fc3"},
    {"discriminator.batch_norm3", "d_bn3"},
    {"discriminator.dense4", "d_fc4"},
    {"classifier.dense1", "c_fc1"},
    {"classifier.batch_norm1", "c_bn1"},
    {"classifier.dense2", "c_fc2"},
}};

constexpr std::array<std::pair<const char*, const char*>, 6> kMembers{{
    {"weight", "w"},
    {"bias", "b"},
    {"gamma", "gamma"},
    {"beta", "beta"},
    {"running_mean", "mean"},
    {"running_variance", "var"},
}};

}  // namespace

GoldenCase::GoldenCase(const std::filesystem::path& folder, const std::string& name)
    : name_(name),
      inputs_(Checkpoint::load(folder / (name + ".inputs.safetensors"))),
      gradients_(Checkpoint::load(folder / (name + ".grads_f64.safetensors"))),
      parameters_(Checkpoint::load(folder / (name + ".params_f64.safetensors"))) {}

std::vector<std::string> GoldenCase::find(const std::filesystem::path& folder) {
  const std::string suffix = ".inputs.safetensors";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename();
    if (file.ends_with(suffix)) names.push_back(file.substr(0, file.size() - suffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

double GoldenCase::constant(const std::string& key) const { return std::stod(inputs_.text(key)); }

std::int64_t GoldenCase::size(const std::string& key) const {
  return std::stoll(inputs_.text(key));
}

std::vector<double> GoldenCase::expected(const std::string& array) const {
  return convert<double, double>(gradients_.has(array) ? gradients_.at(array)
                                                       : parameters_.at(array));
}

std::vector<float> GoldenCase::input(const std::string& array) const {
  return convert<float, float>(inputs_.at(array));
}

std::vector<std::uint8_t> GoldenCase::pixels() const {
  return convert<std::uint8_t, std::uint8_t>(inputs_.at("x_u8"));
}

std::vector<std::int32_t> GoldenCase::labels(const std::string& array) const {
  return convert<std::int32_t, std::int32_t>(inputs_.at(array));
}

std::string GoldenCase::golden_name(const std::string& ours) {
  const std::size_t dot = ours.rfind('.');
  const std::string layer = ours.substr(0, dot), member = ours.substr(dot + 1);
  std::string result;
  for (const auto& [from, to] : kLayers) {
    if (layer == from) result = to;
  }
  for (const auto& [from, to] : kMembers) {
    if (member == from && !result.empty()) return result + "." + to;
  }
  ACGAN_CHECK(!"a parameter that the golden traces know");
}

bool GoldenCase::is_null_bias(const std::string& golden) {
  constexpr std::array kNames{"g_fc1.b", "g_fc2.b", "g_dc3.b", "d_conv2.b", "d_fc3.b", "c_fc1.b"};
  return std::find(kNames.begin(), kNames.end(), golden) != kNames.end();
}

}  // namespace acgan::test
