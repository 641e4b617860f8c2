#include "export/folded_generator.h"

#include <algorithm>

#include "export/generator_arrays.h"

namespace acgan {
namespace {

constexpr std::int64_t kKernel = 4;

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

// The columns of the latent and of the one-hot class part; the latter take the shift.
void fold_dense1(const GeneratorArrays& arrays, const AcganShape& shape, FoldedGenerator& folded) {
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
void fold_dense2(const GeneratorArrays& arrays, const AcganShape& shape, FoldedGenerator& folded) {
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

void check_finite(const Checkpoint& checkpoint, const FoldedGenerator& folded) {
  check_is_finite(checkpoint.source(), "dense1", folded.latent_weight);
  check_is_finite(checkpoint.source(), "dense1", folded.class_rows);
  check_is_finite(checkpoint.source(), "dense2", folded.dense2_weight);
  check_is_finite(checkpoint.source(), "dense2", folded.dense2_bias);
  check_is_finite(checkpoint.source(), "deconv3", folded.deconv3_weight);
  check_is_finite(checkpoint.source(), "deconv3", folded.deconv3_bias);
  check_is_finite(checkpoint.source(), "deconv4", folded.deconv4_weight);
  check_is_finite(checkpoint.source(), "deconv4", folded.deconv4_bias);
}

}  // namespace

FoldedGenerator fold_generator(const Checkpoint& checkpoint, const AcganShape& shape,
                               GeneratorWeights weights) {
  const GeneratorArrays arrays(checkpoint, weights);
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
