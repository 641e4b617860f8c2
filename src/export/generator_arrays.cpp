#include "export/generator_arrays.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace acgan {

FoldedArray empty_array(std::vector<std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return {.shape = std::move(shape), .values = std::vector<float>(static_cast<std::size_t>(count))};
}

std::vector<float> GeneratorArrays::read(const std::string& name, const Shape& shape) const {
  const Checkpoint::Array& array =
      generator_array(checkpoint_, "generator." + name, shape, weights_);
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

Affine bias_of(const GeneratorArrays& arrays, const std::string& layer, std::int64_t features) {
  const std::vector<float> bias = arrays.read(layer + ".bias", {features});
  return {.scale = std::vector<double>(bias.size(), 1.0), .shift = {bias.begin(), bias.end()}};
}

Affine norm_of(const GeneratorArrays& arrays, const std::string& norm, std::int64_t features) {
  const std::vector<float> gamma = arrays.read(norm + ".gamma", {features});
  const std::vector<float> beta = arrays.read(norm + ".beta", {features});
  const std::vector<float> mean = arrays.read(norm + ".running_mean", {features});
  const std::vector<float> variance = arrays.read(norm + ".running_variance", {features});
  Affine affine;
  for (std::size_t i = 0; i < gamma.size(); ++i) {
    const double scale = gamma[i] / std::sqrt(static_cast<double>(variance[i]) + kBatchNormEpsilon);
    affine.scale.push_back(scale);
    affine.shift.push_back(beta[i] - scale * mean[i]);
  }
  return affine;
}

Affine bias_and_norm_of(const GeneratorArrays& arrays, const std::string& layer,
                        const std::string& norm, std::int64_t features) {
  const Affine bias = bias_of(arrays, layer, features);
  Affine affine = norm_of(arrays, norm, features);
  for (std::size_t i = 0; i < affine.shift.size(); ++i) {
    affine.shift[i] += affine.scale[i] * bias.shift[i];
  }
  return affine;
}

void check_is_finite(const std::string& source, const std::string& layer,
                     const FoldedArray& array) {
  const bool is_finite = std::all_of(array.values.begin(), array.values.end(),
                                     [](float value) { return std::isfinite(value); });
  if (is_finite) return;
  fail(ErrorKind::Output,
       "{}: generator.{} has a weight, or its batch norm a statistic, that gives no finite number; "
       "use an earlier checkpoint",
       source, layer);
}

}  // namespace acgan
