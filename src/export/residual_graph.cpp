#include "export/residual_graph.h"

#include <algorithm>

#include "base/format.h"

namespace acgan {
namespace {

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

// One per feature, for images [N,C,H,W].
FoldedArray channel_array(const std::vector<double>& values) {
  FoldedArray array = empty_array({static_cast<std::int64_t>(values.size()), 1, 1});
  std::transform(values.begin(), values.end(), array.values.begin(),
                 [](double value) { return static_cast<float>(value); });
  return array;
}

class ResidualGraph {
 public:
  ResidualGraph(OnnxGraph& graph, const GeneratorArrays& arrays, const AcganShape& shape)
      : graph_(graph), arrays_(arrays), shape_(shape), width_(shape.widths.generator_width) {}

  void write(const GeneratorNames& names) {
    write_scales();
    std::string x = dense(names);
    for (int block = 1; block <= 3; ++block) x = up_block(fmt::format("block{}", block), x);
    x = norm_and_relu("batch_norm5", x);
    x = convolution("conv5", {.kernel = 3, .in = width_, .out = shape_.channels},
                    bias_of(arrays_, "conv5", shape_.channels), x);
    graph_.node("Sigmoid", {x}, names.image);
  }

 private:
  struct Sizes {
    std::int64_t kernel, in, out;
  };

  void weights(const std::string& layer, const std::string& name, const FoldedArray& array) {
    check_is_finite(arrays_.source(), layer, array);
    graph_.weights(name, array);
  }

  // Of Resize: rows and channels stay, the image doubles.
  void write_scales() {
    graph_.weights("twice", FoldedArray{.shape = {4}, .values = {1.0f, 1.0f, 2.0f, 2.0f}});
  }

  // Its rows are features [side, side, width] in the checkpoint, [width, side, side] here; what a
  // class adds takes the bias.
  std::string dense(const GeneratorNames& names) {
    const std::int64_t side = shape_.image_size / 8, pixels = side * side;
    const std::int64_t latent = shape_.widths.latent_dim, classes = shape_.classes;
    const std::int64_t in = latent + classes, out = pixels * width_;
    const std::vector<float> weight = arrays_.read("dense1.weight", {out, in});
    const std::vector<float> bias = arrays_.read("dense1.bias", {out});
    FoldedArray of_latent = empty_array({out, latent}), of_class = empty_array({classes, out});
    for (std::int64_t from = 0; from < out; ++from) {
      const std::int64_t to = from % width_ * pixels + from / width_;
      const float* row = &weight[index(from * in)];
      std::copy_n(row, latent, &of_latent.values[index(to * latent)]);
      for (std::int64_t c = 0; c < classes; ++c) {
        of_class.values[index(c * out + to)] = row[latent + c] + bias[index(from)];
      }
    }
    weights("dense1", "latent_weight", of_latent);
    weights("dense1", "class_rows", of_class);
    graph_.integers("features_shape", {0, width_, side, side});  // 0: N stays
    set_integer(graph_.node("Gather", {"class_rows", names.classes}, "class_row"), "axis", 0);
    set_integer(graph_.node("Gemm", {names.latent, "latent_weight", "class_row"}, "dense1"),
                "transB", 1);
    graph_.node("Reshape", {"dense1", "features_shape"}, "features");
    return "features";
  }

  // conv1 is followed by batch_norm2 and ReLU alone.
  std::string up_block(const std::string& block, const std::string& input) {
    const Sizes wide{.kernel = 3, .in = width_, .out = width_};
    const std::string conv1 = block + ".conv1", conv2 = block + ".conv2";
    const std::string shortcut = block + ".shortcut";
    std::string x = norm_and_relu(block + ".batch_norm1", input);
    x = upsample(block + ".upsample", x);
    x = convolution(conv1, wide, bias_and_norm_of(arrays_, conv1, block + ".batch_norm2", width_),
                    x);
    graph_.node("Relu", {x}, block + ".relu2");
    const std::string main =
        convolution(conv2, wide, bias_of(arrays_, conv2, width_), block + ".relu2");
    x = convolution(shortcut, {.kernel = 1, .in = width_, .out = width_},
                    bias_of(arrays_, shortcut, width_), input);
    x = upsample(block + ".shortcut_upsample", x);
    graph_.node("Add", {main, x}, block + ".sum");
    return block + ".sum";
  }

  std::string norm_and_relu(const std::string& norm, const std::string& input) {
    const Affine affine = norm_of(arrays_, norm, width_);
    weights(norm, norm + ".scale", channel_array(affine.scale));
    weights(norm, norm + ".shift", channel_array(affine.shift));
    graph_.node("Mul", {input, norm + ".scale"}, norm + ".scaled");
    graph_.node("Add", {norm + ".scaled", norm + ".shift"}, norm);
    graph_.node("Relu", {norm}, norm + ".relu");
    return norm + ".relu";
  }

  // `after` is what follows the product: its bias, and the batch norm where one is taken in.
  std::string convolution(const std::string& layer, const Sizes& sizes, const Affine& after,
                          const std::string& input) {
    const auto [kernel, in, out] = sizes;
    const std::int64_t taps = kernel * kernel;
    const std::vector<float> stored = arrays_.read(layer + ".weight", {out, kernel, kernel, in});
    FoldedArray weight = empty_array({out, in, kernel, kernel}), bias = empty_array({out});
    for (std::int64_t o = 0; o < out; ++o) {
      for (std::int64_t i = 0; i < in * taps; ++i) {  // i = tap * in + channel
        weight.values[index(o * taps * in + i % in * taps + i / in)] =
            static_cast<float>(after.scale[index(o)] * stored[index(o * taps * in + i)]);
      }
      bias.values[index(o)] = static_cast<float>(after.shift[index(o)]);
    }
    weights(layer, layer + ".weight", weight);
    weights(layer, layer + ".bias", bias);
    onnx::NodeProto& node = graph_.node("Conv", {input, layer + ".weight", layer + ".bias"}, layer);
    const std::int64_t pad = kernel / 2;
    set_integers(node, "kernel_shape", {kernel, kernel});
    set_integers(node, "pads", {pad, pad, pad, pad});
    return layer;
  }

  std::string upsample(const std::string& name, const std::string& input) {
    onnx::NodeProto& node = graph_.node("Resize", {input, "", "twice"}, name);
    set_text(node, "mode", "nearest");
    set_text(node, "coordinate_transformation_mode", "asymmetric");
    set_text(node, "nearest_mode", "floor");
    return name;
  }

  OnnxGraph& graph_;
  const GeneratorArrays& arrays_;
  const AcganShape& shape_;
  std::int64_t width_;
};

}  // namespace

void write_residual_generator(OnnxGraph& graph, const GeneratorArrays& arrays,
                              const AcganShape& shape, const GeneratorNames& names) {
  ResidualGraph(graph, arrays, shape).write(names);
}

}  // namespace acgan
