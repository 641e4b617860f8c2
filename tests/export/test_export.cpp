#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "export/folded_generator.h"
#include "export/onnx_model.h"
#include "train/sampler.h"
#include "train/step_harness.h"

namespace acgan {
namespace {

using test::Harness;
using test::small_options;

// A checkpoint whose running statistics are not the initial ones and whose biases are not zero.
Checkpoint trained_checkpoint(Harness& harness) {
  harness.run(5);
  const Checkpoint saved = harness.save();
  Checkpoint checkpoint = saved;
  for (const auto& [name, array] : saved.arrays()) {
    if (!name.starts_with("generator.") || !name.ends_with(".bias")) continue;
    std::vector<float> bias(array.bytes.size() / sizeof(float));
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = 0.25f + 0.01f * static_cast<float>(i);
    checkpoint.set(name, array.type, array.shape, bias.data());
  }
  return checkpoint;
}

void relu(std::vector<double>& values) {
  for (double& value : values) value = std::max(value, 0.0);
}

// [in] -> [out], weight [out, in]
std::vector<double> dense(const std::vector<double>& x, const FoldedArray& weight,
                          const float* bias) {
  std::vector<double> y(static_cast<std::size_t>(weight.shape[0]));
  for (std::size_t o = 0; o < y.size(); ++o) {
    y[o] = bias[o];
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += weight.values[o * x.size() + i] * x[i];
  }
  return y;
}

// [in, side, side] -> [out, 2 side, 2 side]: each value adds its kernel at twice its place, less 1.
std::vector<double> deconvolution(const std::vector<double>& x, int side, const FoldedArray& weight,
                                  const FoldedArray& bias) {
  const auto in = static_cast<int>(weight.shape[0]), out = static_cast<int>(weight.shape[1]);
  std::vector<double> y(static_cast<std::size_t>(out * 4 * side * side));
  const auto at = [&](int o, int row, int column) -> double& {
    return y[static_cast<std::size_t>((o * 2 * side + row) * 2 * side + column)];
  };
  for (int o = 0; o < out; ++o) {
    for (int p = 0; p < 4 * side * side; ++p) at(o, 0, p) = bias.values[std::size_t(o)];
  }
  for (int i = 0; i < in * side * side * out * 16; ++i) {
    const int s = i % 4, r = i / 4 % 4, o = i / 16 % out, pixel = i / 16 / out;
    const int row = 2 * (pixel / side % side) + r - 1, column = 2 * (pixel % side) + s - 1;
    if (row < 0 || row >= 2 * side || column < 0 || column >= 2 * side) continue;
    const int c = pixel / side / side;
    at(o, row, column) +=
        weight.values[std::size_t((c * out + o) * 16 + r * 4 + s)] * x[std::size_t(pixel)];
  }
  return y;
}

// What the comment of FoldedGenerator says.
std::vector<double> image_of(const FoldedGenerator& folded, std::span<const float> z,
                             std::int32_t label) {
  const auto wide = static_cast<int>(folded.dense2_weight.shape[1]);
  std::vector<double> h(z.begin(), z.end());
  h = dense(h, folded.latent_weight, &folded.class_rows.values[std::size_t(label * wide)]);
  relu(h);
  h = dense(h, folded.dense2_weight, folded.dense2_bias.values.data());
  relu(h);
  h = deconvolution(h, 3, folded.deconv3_weight, folded.deconv3_bias);
  relu(h);
  h = deconvolution(h, 6, folded.deconv4_weight, folded.deconv4_bias);
  for (double& value : h) value = 1 / (1 + std::exp(-value));
  return h;
}

TEST_CASE("a generator whose batch norms are folded makes the same images") {
  TrainStepOptions options = small_options(DType::F32);
  Harness harness(options);
  const Checkpoint checkpoint = trained_checkpoint(harness);
  Acgan model(*harness.backend_, options.shape, DType::F32);
  load_generator(checkpoint, model);
  const std::vector<float> z = sample_latents(4, 3, 6);
  const std::vector<std::int32_t> labels{2, 0, 1};
  const std::vector<float> ours = Sampler(model, 3).generate(z, labels);
  const FoldedGenerator folded = fold_generator(checkpoint, options.shape);
  for (std::size_t n = 0; n < 3; ++n) {
    const std::vector<double> image = image_of(folded, std::span(z).subspan(n * 6, 6), labels[n]);
    REQUIRE(image.size() == 144);
    for (std::size_t i = 0; i < 144; ++i) CHECK(std::abs(image[i] - ours[n * 144 + i]) < 1e-6);
  }
}

TEST_CASE("the average is exported where there is one, or the live weights where asked for") {
  TrainStepOptions options = small_options(DType::F32);
  options.ema.decay = 0.9f;
  Harness harness(options);
  const Checkpoint checkpoint = trained_checkpoint(harness);
  const auto weight_of = [&](GeneratorWeights weights) {
    return fold_generator(checkpoint, options.shape, weights).dense2_weight.values;
  };
  Acgan model(*harness.backend_, options.shape, DType::F32);
  const std::vector<float> z = sample_latents(4, 1, 6);
  for (const auto weights : {GeneratorWeights::Average, GeneratorWeights::Live}) {
    load_generator(checkpoint, model, weights);
    const std::vector<float> ours = Sampler(model, 1).generate(z, std::vector<std::int32_t>{1});
    const std::vector<double> image =
        image_of(fold_generator(checkpoint, options.shape, weights), z, 1);
    for (std::size_t i = 0; i < 144; ++i) CHECK(std::abs(image[i] - ours[i]) < 1e-6);
  }
  CHECK(weight_of(GeneratorWeights::Average) != weight_of(GeneratorWeights::Live));
}

TEST_CASE("the ONNX checker finds the shape that the output says") {
  const TrainStepOptions options =
      GENERATE(small_options(DType::F32), test::residual_options(DType::F32));
  Harness harness(options);
  const Checkpoint checkpoint = trained_checkpoint(harness);
  const std::string content = onnx_model(checkpoint, read_model_facts(checkpoint));
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(content));
  CHECK_NOTHROW(onnx::checker::check_model(model));
  onnx::TypeProto declared = model.graph().output(0).type();
  model.mutable_graph()->mutable_output(0)->clear_type();
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type();
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                     {/*check_type=*/true, /*strict_mode=*/1, /*data_prop=*/true});
  onnx::TypeProto inferred = model.graph().output(0).type();
  onnx::TensorShapeProto::Dimension& rows =
      *inferred.mutable_tensor_type()->mutable_shape()->mutable_dim(0);
  CHECK_FALSE(rows.has_dim_value());
  rows.set_dim_param("N");  // Resize gives it a name of its own
  CHECK(inferred.SerializeAsString() == declared.SerializeAsString());
  CHECK(declared.tensor_type().shape().dim(0).dim_param() == "N");
  CHECK(declared.tensor_type().shape().dim(3).dim_value() == options.shape.image_size);

  REQUIRE(model.metadata_props_size() == 2);
  CHECK(model.metadata_props(0).key() == "classes");
  CHECK(model.metadata_props(0).value() == R"(["a","b","c"])");
  CHECK(model.metadata_props(1).value() == "5");
}

TEST_CASE("weights that are not finite are not exported") {
  Harness harness(small_options(DType::F32));
  Checkpoint checkpoint = trained_checkpoint(harness);
  const AcganShape shape = read_model_facts(checkpoint).shape;
  const auto [name, value] =
      GENERATE(std::pair("generator.dense1.weight", std::numeric_limits<float>::infinity()),
               std::pair("generator.batch_norm3.gamma", std::numeric_limits<float>::quiet_NaN()),
               std::pair("generator.batch_norm2.running_variance", -1.0f),
               std::pair("generator.deconv4.bias", std::numeric_limits<float>::infinity()));
  const Checkpoint::Array array = checkpoint.at(name);
  std::vector<float> values(array.bytes.size() / sizeof(float));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  values.back() = value;
  checkpoint.set(name, array.type, array.shape, values.data());
  CHECK_THROWS_WITH(fold_generator(checkpoint, shape), Catch::Contains("no finite number"));
}

TEST_CASE("weights of a residual generator that are not finite are not exported") {
  Harness harness(test::residual_options(DType::F32));
  Checkpoint checkpoint = trained_checkpoint(harness);
  const ModelFacts facts = read_model_facts(checkpoint);
  const auto [name, value] =
      GENERATE(std::pair("generator.dense1.bias", std::numeric_limits<float>::infinity()),
               std::pair("generator.block1.batch_norm1.running_variance", -1.0f),
               std::pair("generator.block2.batch_norm2.gamma", -INFINITY),
               std::pair("generator.block3.shortcut.weight", NAN),
               std::pair("generator.conv5.bias", INFINITY));
  const Checkpoint::Array array = checkpoint.at(name);
  std::vector<float> values(array.bytes.size() / sizeof(float));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  values.back() = value;
  checkpoint.set(name, array.type, array.shape, values.data());
  CHECK_THROWS_WITH(onnx_model(checkpoint, facts), Catch::Contains("no finite number"));
}

TEST_CASE("a checkpoint without a batch norm's statistics is not exported") {
  Harness harness(small_options(DType::F32));
  const Checkpoint whole = trained_checkpoint(harness);
  const AcganShape shape = read_model_facts(whole).shape;
  Checkpoint other;
  for (const auto& [name, array] : whole.arrays()) {
    if (name == "generator.batch_norm1.running_mean") continue;
    other.set(name, array.type, array.shape, array.bytes.data());
  }
  CHECK_THROWS_WITH(fold_generator(other, shape), Catch::Contains("batch_norm1.running_mean"));
  const float one = 1;
  other.set("generator.batch_norm1.running_mean", Checkpoint::Type::F32, {1}, &one);
  CHECK_THROWS_WITH(fold_generator(other, shape), Catch::Contains("should be F32 [24]"));
}

TEST_CASE("a generator too large for the format is refused") {
  AcganShape shape{.image_size = 28, .channels = 1, .classes = 10, .widths = {}};
  CHECK_NOTHROW(check_fits_onnx(shape, "file"));
  shape.widths.dense_width = 65536;  // dense2 alone: 6272 * 65536 * 4 bytes = 1568 MiB
  CHECK_NOTHROW(check_fits_onnx(shape, "file"));
  shape.widths.conv2_width = 192;
  CHECK_THROWS_WITH(check_fits_onnx(shape, "file"), Catch::Contains("less than 2048"));
  shape = {.image_size = 4096, .channels = 3, .classes = 100000, .widths = {}};
  shape.widths = {.latent_dim = 65536,
                  .dense_width = 65536,
                  .conv1_width = 65536,
                  .conv2_width = 65536,
                  .classifier_width = 1};
  CHECK_THROWS_AS(check_fits_onnx(shape, "file"), Error);
}

}  // namespace
}  // namespace acgan
