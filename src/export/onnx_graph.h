#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "export/generator_arrays.h"

namespace acgan {

// Adds to an ONNX graph whose values are known by name.
class OnnxGraph {
 public:
  explicit OnnxGraph(onnx::GraphProto& graph) : graph_(graph) {}

  // Of every row, of which there are any number N.
  void input(const std::string& name, onnx::TensorProto::DataType type,
             std::initializer_list<std::int64_t> row, const std::string& meaning);
  void output(const std::string& name, std::initializer_list<std::int64_t> row,
              const std::string& meaning);

  void weights(const std::string& name, const FoldedArray& array);
  void integers(const std::string& name, const std::vector<std::int64_t>& values);

  // Its name is that of its output.
  onnx::NodeProto& node(const char* operation, const std::vector<std::string>& inputs,
                        const std::string& output);

 private:
  void constant(const std::string& name, onnx::TensorProto::DataType type,
                const std::vector<std::int64_t>& shape, std::span<const std::byte> bytes);

  onnx::GraphProto& graph_;
};

void set_integer(onnx::NodeProto& node, const char* name, std::int64_t value);
void set_integers(onnx::NodeProto& node, const char* name,
                  std::initializer_list<std::int64_t> values);
void set_text(onnx::NodeProto& node, const char* name, const char* value);

}  // namespace acgan
