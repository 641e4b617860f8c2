#include "export/folded_generator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "base/error.h"

namespace acgan {
namespace {

constexpr std::int64_t kKernel = 4;

// The generator's arrays by the names that its layers give them.
class Arrays {
 public:
  Arrays(const Checkpoint& checkpoint, GeneratorWeights weights)
      : checkpoint_(checkpoint), weights_(weights) {}

  std::vector<float> read(const std::string& name, const Shape& shape) const {
    const Checkpoint::Array& array =
        generator_array(checkpoint_, "generator." + name, shape, weights_);
    std::vector<float> values(static_cast<std::size_t>(shape.count()));
    std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
    return values;
  }

 private:
  const Checkpoint& checkpoint_;
  GeneratorWeights weights_;
};

// y = scale x + shift for each feature: what follows a layer's product.
struct Affine {
  std::vector<double> scale, shift;
};

Affine bias_of(const Arrays& arrays, const std::string& layer, std::int64_t features) {
  const std::vector<float> bias = arrays.read(layer + ".bias", {features});
  return {.scale = std::vector<double>(bias.size(), 1.0), .shift = {bias.begin(), bias.end()}};
}

// The layer's bias, and the batch norm after it.
Affine bias_and_norm_of(const Arrays& arrays, const std::string& layer, const std::string& norm,
                        std::int64_t features) {
  Affine affine = bias_of(arrays, layer, features);
  const std::vector<float> gamma = arrays.read(norm + ".gamma", {features});
  const std::vector<float> beta = arrays.read(norm + ".beta", {features});
  const std::vector<float> mean = arrays.read(norm + ".running_mean", {features});
  const std::vector<float> variance = arrays.read(norm + ".running_variance", {features});
  for (std::size_t i = 0; i < gamma.size(); ++i) {
    const double scale = gamma[i] / std::sqrt(static_cast<double>(variance[i]) + kBatchNormEpsilon);
    affine.scale[i] = scale;
    affine.shift[i] = beta[i] + scale * (affine.shift[i] - mean[i]);
  }
  return affine;
}

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

FoldedArray empty_array(std::vector<std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return {.shape = std::move(shape), .values = std::vector<float>(index(count))};
}

// The columns of the latent and of the one-hot class part; the latter take the shift.
void fold_dense1(const Arrays& arrays, const AcganShape& shape, FoldedGenerator& folded) {
  const std::int64_t latent = shape.widths.latent_dim, out = shape.widths.dense_width;
  const std::int64_t in = latent + shape.classes;
  const std::vector<float> weight = arrays.read("dense1.weight", {out, in});
  const Affine after = bias_and_norm_of(arrays, "dense1", "batch_norm1", out);
  folded.latent_weight = empty_array({out, latent});
  folded.class_rows = empty_array({shape.classes, out});
  for (std::int64_t o = 0; o < out; ++o) {
    const double scale = after.scale[index(o)], shift = after.shift[index(o)];
    for (std::int64_t i = 0; i < latent; ++i) {
      folded.latent_weight.values[index(o * latent + i)] =
          static_cast<float>(scale * weight[index(o * in + i)]);
    }
    for (std::int64_t c = 0; c < shape.classes; ++c) {
      folded.class_rows.values[index(c * out + o)] =
          static_cast<float>(scale * weight[index(o * in + latent + c)] + shift);
    }
  }
}

// Its rows are features [base, base, channels] in the checkpoint, [channels, base, base] here.
void fold_dense2(const Arrays& arrays, const AcganShape& shape, FoldedGenerator& folded) {
  const std::int64_t base = shape.image_size / 4, pixels = base * base;
  const std::int64_t channels = shape.widths.conv2_width, in = shape.widths.dense_width;
  const std::int64_t out = pixels * channels;
  const std::vector<float> weight = arrays.read("dense2.weight", {out, in});
  const Affine after = bias_and_norm_of(arrays, "dense2", "batch_norm2", out);
  folded.dense2_weight = empty_array({out, in});
  folded.dense2_bias = empty_array({out});
  for (std::int64_t from = 0; from < out; ++from) {
    const std::int64_t to = from % channels * pixels + from / channels;
    for (std::int64_t i = 0; i < in; ++i) {
      folded.dense2_weight.values[index(to * in + i)] =
          static_cast<float>(after.scale[index(from)] * weight[index(from * in + i)]);
    }
    folded.dense2_bias.values[index(to)] = static_cast<float>(after.shift[index(from)]);
  }
}

struct Deconvolution {
  FoldedArray weight;  // [in, out, 4, 4]
  FoldedArray bias;    // [out]
};

Deconvolution fold_deconvolution(const std::vector<float>& weight, std::int64_t in,
                                 const Affine& after) {
  const auto out = static_cast<std::int64_t>(after.scale.size());
  const std::int64_t taps = kKernel * kKernel;
  Deconvolution folded{.weight = empty_array({in, out, kKernel, kKernel}),
                       .bias = empty_array({out})};
  for (std::int64_t i = 0; i < in; ++i) {
    for (std::int64_t o = 0; o < out; ++o) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        folded.weight.values[index((i * out + o) * taps + tap)] =
            static_cast<float>(after.scale[index(o)] * weight[index((i * taps + tap) * out + o)]);
      }
    }
  }
  std::transform(after.shift.begin(), after.shift.end(), folded.bias.values.begin(),
                 [](double shift) { return static_cast<float>(shift); });
  return folded;
}

void check_finite(const Checkpoint& checkpoint, const char* layer, const FoldedArray& array) {
  const bool is_finite = std::all_of(array.values.begin(), array.values.end(),
                                     [](float value) { return std::isfinite(value); });
  if (is_finite) return;
  fail(ErrorKind::Output,
       "{}: generator.{} has a weight, or its batch norm a statistic, that gives no finite number; "
       "use an earlier checkpoint",
       checkpoint.source(), layer);
}

void check_finite(const Checkpoint& checkpoint, const FoldedGenerator& folded) {
  check_finite(checkpoint, "dense1", folded.latent_weight);
  check_finite(checkpoint, "dense1", folded.class_rows);
  check_finite(checkpoint, "dense2", folded.dense2_weight);
  check_finite(checkpoint, "dense2", folded.dense2_bias);
  check_finite(checkpoint, "deconv3", folded.deconv3_weight);
  check_finite(checkpoint, "deconv3", folded.deconv3_bias);
  check_finite(checkpoint, "deconv4", folded.deconv4_weight);
  check_finite(checkpoint, "deconv4", folded.deconv4_bias);
}

}  // namespace

FoldedGenerator fold_generator(const Checkpoint& checkpoint, const AcganShape& shape,
                               GeneratorWeights weights) {
  const Arrays arrays(checkpoint, weights);
  const std::int64_t wide = shape.widths.conv2_width, narrow = shape.widths.conv1_width;
  const std::int64_t channels = shape.channels;
  FoldedGenerator folded;
  fold_dense1(arrays, shape, folded);
  fold_dense2(arrays, shape, folded);
  Deconvolution deconv3 =
      fold_deconvolution(arrays.read("deconv3.weight", {wide, kKernel, kKernel, narrow}), wide,
                         bias_and_norm_of(arrays, "deconv3", "batch_norm3", narrow));
  Deconvolution deconv4 =
      fold_deconvolution(arrays.read("deconv4.weight", {narrow, kKernel, kKernel, channels}),
                         narrow, bias_of(arrays, "deconv4", channels));
  folded.deconv3_weight = std::move(deconv3.weight);
  folded.deconv3_bias = std::move(deconv3.bias);
  folded.deconv4_weight = std::move(deconv4.weight);
  folded.deconv4_bias = std::move(deconv4.bias);
  check_finite(checkpoint, folded);
  return folded;
}

}  // namespace acgan
