#include "export/onnx_graph.h"

namespace acgan {
namespace {

constexpr const char* kRows = "N";

void describe(onnx::ValueInfoProto& value, const std::string& name,
              onnx::TensorProto::DataType type, std::initializer_list<std::int64_t> row,
              const std::string& meaning) {
  value.set_name(name);
  value.set_doc_string(meaning);
  onnx::TypeProto::Tensor& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape()->add_dim()->set_dim_param(kRows);
  for (const std::int64_t extent : row) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

onnx::AttributeProto& add_attribute(onnx::NodeProto& node, const char* name,
                                    onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

}  // namespace

void OnnxGraph::input(const std::string& name, onnx::TensorProto::DataType type,
                      std::initializer_list<std::int64_t> row, const std::string& meaning) {
  describe(*graph_.add_input(), name, type, row, meaning);
}

void OnnxGraph::output(const std::string& name, std::initializer_list<std::int64_t> row,
                       const std::string& meaning) {
  describe(*graph_.add_output(), name, onnx::TensorProto::FLOAT, row, meaning);
}

void OnnxGraph::weights(const std::string& name, const FoldedArray& array) {
  constant(name, onnx::TensorProto::FLOAT, array.shape, std::as_bytes(std::span(array.values)));
}

void OnnxGraph::integers(const std::string& name, const std::vector<std::int64_t>& values) {
  constant(name, onnx::TensorProto::INT64, {static_cast<std::int64_t>(values.size())},
           std::as_bytes(std::span(values)));
}

onnx::NodeProto& OnnxGraph::node(const char* operation, const std::vector<std::string>& inputs,
                                 const std::string& output) {
  onnx::NodeProto& node = *graph_.add_node();
  node.set_op_type(operation);
  node.set_name(output);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void OnnxGraph::constant(const std::string& name, onnx::TensorProto::DataType type,
                         const std::vector<std::int64_t>& shape, std::span<const std::byte> bytes) {
  onnx::TensorProto& tensor = *graph_.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::int64_t extent : shape) tensor.add_dims(extent);
  tensor.set_raw_data(bytes.data(), bytes.size());
}

void set_integer(onnx::NodeProto& node, const char* name, std::int64_t value) {
  add_attribute(node, name, onnx::AttributeProto::INT).set_i(value);
}

void set_integers(onnx::NodeProto& node, const char* name,
                  std::initializer_list<std::int64_t> values) {
  onnx::AttributeProto& attribute = add_attribute(node, name, onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

void set_text(onnx::NodeProto& node, const char* name, const char* value) {
  add_attribute(node, name, onnx::AttributeProto::STRING).set_s(value);
}

}  // namespace acgan
