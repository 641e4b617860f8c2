#include "export/onnx_model.h"

#include <onnx/onnx_pb.h>

#include <initializer_list>
#include <span>
#include <vector>

#include "base/error.h"
#include "export/folded_generator.h"

namespace acgan {
namespace {

// What ONNX Runtime 1.5 (2020) and all later ones read.
constexpr std::int64_t kFormatVersion = 7;
constexpr std::int64_t kOperatorSet = 13;

constexpr const char* kRows = "N";
constexpr const char* kLatent = "latent";
constexpr const char* kClass = "class";
constexpr const char* kImage = "image";

// Adds to a graph whose values are known by name.
class GraphWriter {
 public:
  explicit GraphWriter(onnx::GraphProto& graph) : graph_(graph) {}

  void input(const char* name, onnx::TensorProto::DataType type,
             std::initializer_list<std::int64_t> row, const std::string& meaning) {
    describe(*graph_.add_input(), name, type, row, meaning);
  }
  void output(const char* name, std::initializer_list<std::int64_t> row,
              const std::string& meaning) {
    describe(*graph_.add_output(), name, onnx::TensorProto::FLOAT, row, meaning);
  }

  void weights(const char* name, const FoldedArray& array) {
    constant(name, onnx::TensorProto::FLOAT, array.shape, std::as_bytes(std::span(array.values)));
  }
  void integers(const char* name, const std::vector<std::int64_t>& values) {
    constant(name, onnx::TensorProto::INT64, {static_cast<std::int64_t>(values.size())},
             std::as_bytes(std::span(values)));
  }

  onnx::NodeProto& node(const char* operation, std::initializer_list<const char*> inputs,
                        const char* output) {
    onnx::NodeProto& node = *graph_.add_node();
    node.set_op_type(operation);
    node.set_name(output);
    for (const char* const input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
  }

 private:
  static void describe(onnx::ValueInfoProto& value, const char* name,
                       onnx::TensorProto::DataType type, std::initializer_list<std::int64_t> row,
                       const std::string& meaning) {
    value.set_name(name);
    value.set_doc_string(meaning);
    onnx::TypeProto::Tensor& tensor = *value.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape()->add_dim()->set_dim_param(kRows);
    for (const std::int64_t extent : row) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
  }

  void constant(const char* name, onnx::TensorProto::DataType type,
                const std::vector<std::int64_t>& shape, std::span<const std::byte> bytes) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const std::int64_t extent : shape) tensor.add_dims(extent);
    tensor.set_raw_data(bytes.data(), bytes.size());
  }

  onnx::GraphProto& graph_;
};

void set_integer(onnx::NodeProto& node, const char* name, std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void set_integers(onnx::NodeProto& node, const char* name,
                  std::initializer_list<std::int64_t> values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

// x W^T + b
void dense(GraphWriter& graph, std::initializer_list<const char*> inputs, const char* output) {
  set_integer(graph.node("Gemm", inputs, output), "transB", 1);
}

void deconvolution(GraphWriter& graph, std::initializer_list<const char*> inputs,
                   const char* output) {
  onnx::NodeProto& node = graph.node("ConvTranspose", inputs, output);
  set_integers(node, "kernel_shape", {4, 4});
  set_integers(node, "strides", {2, 2});
  set_integers(node, "pads", {1, 1, 1, 1});
}

void write_weights(GraphWriter& graph, const FoldedGenerator& folded, const AcganShape& shape) {
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

void write_nodes(GraphWriter& graph) {
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
  const ModelConfig& w = shape.widths;
  const std::int64_t features = shape.image_size / 4 * (shape.image_size / 4) * w.conv2_width;
  const std::int64_t weights =
      w.dense_width * (w.latent_dim + shape.classes) + features * (w.dense_width + 1) +
      16 * w.conv1_width * (w.conv2_width + shape.channels) + w.conv1_width + shape.channels;
  const std::int64_t bytes = weights * static_cast<std::int64_t>(sizeof(float));
  if (bytes <= kMostBytes - kOtherBytes) return;
  fail(ErrorKind::Output,
       "{}: the generator's weights have {} MiB, but an ONNX file holds less than 2048; train a "
       "smaller model (model.dense_width)",
       source, bytes >> 20);
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
  GraphWriter writer(graph);
  writer.input(kLatent, onnx::TensorProto::FLOAT, {shape.widths.latent_dim},
               "drawn uniformly from [-1,1) while training");
  writer.input(kClass, onnx::TensorProto::INT64, {},
               fmt::format("0 .. {}, names in the metadata", shape.classes - 1));
  writer.output(kImage, {shape.channels, shape.image_size, shape.image_size}, "in [0,1]");
  write_weights(writer, fold_generator(checkpoint, shape, weights), shape);
  write_nodes(writer);

  std::string content;
  if (!model.SerializeToString(&content)) {
    fail(ErrorKind::Output, "{}: the generator does not fit into an ONNX file",
         checkpoint.source());
  }
  return content;
}

}  // namespace acgan
