#include "export/onnx_model.h"

#include "base/error.h"
#include "export/folded_generator.h"
#include "export/onnx_graph.h"
#include "export/residual_graph.h"

namespace acgan {
namespace {

// What ONNX Runtime 1.5 (2020) and all later ones read.
constexpr std::int64_t kFormatVersion = 7;
constexpr std::int64_t kOperatorSet = 13;

constexpr const char* kLatent = "latent";
constexpr const char* kClass = "class";
constexpr const char* kImage = "image";

// x W^T + b
void dense(OnnxGraph& graph, const std::vector<std::string>& inputs, const std::string& output) {
  set_integer(graph.node("Gemm", inputs, output), "transB", 1);
}

void deconvolution(OnnxGraph& graph, const std::vector<std::string>& inputs,
                   const std::string& output) {
  onnx::NodeProto& node = graph.node("ConvTranspose", inputs, output);
  set_integers(node, "kernel_shape", {4, 4});
  set_integers(node, "strides", {2, 2});
  set_integers(node, "pads", {1, 1, 1, 1});
}

void write_weights(OnnxGraph& graph, const FoldedGenerator& folded, const AcganShape& shape) {
  const std::int64_t base = shape.image_size / 4;
  graph.weights("class_rows", folded.class_rows);
  graph.weights("latent_weight", folded.latent_weight);
  graph.weights("dense2_weight", folded.dense2_weight);
  graph.weights("dense2_bias", folded.dense2_bias);
  graph.integers("features_shape", {0, shape.widths.conv2_width, base, base});  // 0: N stays
  graph.weights("deconv3_weight", folded.deconv3_weight);
  graph.weights("deconv3_bias", folded.deconv3_bias);
  graph.weights("deconv4_weight", folded.deconv4_weight);
  graph.weights("deconv4_bias", folded.deconv4_bias);
}

void write_nodes(OnnxGraph& graph) {
  set_integer(graph.node("Gather", {"class_rows", kClass}, "class_row"), "axis", 0);
  dense(graph, {kLatent, "latent_weight", "class_row"}, "dense1");
  graph.node("Relu", {"dense1"}, "relu1");
  dense(graph, {"relu1", "dense2_weight", "dense2_bias"}, "dense2");
  graph.node("Relu", {"dense2"}, "relu2");
  graph.node("Reshape", {"relu2", "features_shape"}, "features");
  deconvolution(graph, {"features", "deconv3_weight", "deconv3_bias"}, "deconv3");
  graph.node("Relu", {"deconv3"}, "relu3");
  deconvolution(graph, {"relu3", "deconv4_weight", "deconv4_bias"}, "deconv4");
  graph.node("Sigmoid", {"deconv4"}, kImage);
}

void add_metadata(onnx::ModelProto& model, const Checkpoint& checkpoint, const char* key) {
  onnx::StringStringEntryProto& entry = *model.add_metadata_props();
  entry.set_key(key);
  entry.set_value(checkpoint.text(key));
}

}  // namespace

void check_fits_onnx(const AcganShape& shape, const std::string& source) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 31;
  constexpr std::int64_t kOtherBytes = std::int64_t{32} << 20;  // names, shapes, class names
  Network generator("generator");                               // only declared
  build_generator(generator, shape);
  const std::int64_t weights = generator.parameters().parameter_count();
  const std::int64_t bytes = weights * static_cast<std::int64_t>(sizeof(float));
  if (bytes <= kMostBytes - kOtherBytes) return;
  fail(
      ErrorKind::Output,
      "{}: the generator's weights have {} MiB, but an ONNX file holds less than 2048; train a "
      "smaller model ({})",
      source, bytes >> 20,
      shape.widths.preset == ModelPreset::Resnet32 ? "model.generator_width" : "model.dense_width");
}

std::string onnx_model(const Checkpoint& checkpoint, const ModelFacts& facts,
                       GeneratorWeights weights) {
  const AcganShape& shape = facts.shape;
  check_fits_onnx(shape, checkpoint.source());
  onnx::ModelProto model;
  model.set_ir_version(kFormatVersion);
  model.set_producer_name("acgan-train");
  model.set_producer_version(ACGAN_VERSION);
  model.set_doc_string("The generator of an AC-GAN.");
  model.add_opset_import()->set_version(kOperatorSet);
  add_metadata(model, checkpoint, "classes");
  add_metadata(model, checkpoint, "step");

  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("generator");
  OnnxGraph writer(graph);
  writer.input(kLatent, onnx::TensorProto::FLOAT, {shape.widths.latent_dim},
               "drawn uniformly from [-1,1) while training");
  writer.input(kClass, onnx::TensorProto::INT64, {},
               fmt::format("0 .. {}, names in the metadata", shape.classes - 1));
  writer.output(kImage, {shape.channels, shape.image_size, shape.image_size}, "in [0,1]");
  if (shape.widths.preset == ModelPreset::Resnet32) {
    write_residual_generator(writer, GeneratorArrays(checkpoint, weights), shape,
                             {.latent = kLatent, .classes = kClass, .image = kImage});
  } else {
    write_weights(writer, fold_generator(checkpoint, shape, weights), shape);
    write_nodes(writer);
  }

  std::string content;
  if (!model.SerializeToString(&content)) {
    fail(ErrorKind::Output, "{}: the generator does not fit into an ONNX file",
         checkpoint.source());
  }
  return content;
}

}  // namespace acgan
