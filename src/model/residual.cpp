#include "model/residual.h"

#include "base/format.h"
#include "nn/activation_layer.h"
#include "nn/add.h"
#include "nn/batch_norm.h"
#include "nn/conv2d.h"
#include "nn/dense.h"
#include "nn/pool2.h"
#include "nn/sigmoid.h"
#include "nn/upsample2.h"

namespace acgan {
namespace {

constexpr float kAverage = 0.25f;  // of Pool2
constexpr std::int64_t kGeneratorBlocks = 3;

// Adds layers that read the one before them, or what fork() went back to.
class Branches {
 public:
  explicit Branches(Network& network) : network_(network), source_(network.newest()) {}

  int source() const { return source_; }
  void fork(int source) { source_ = source; }

  void convolution(const std::string& name, const ConvGeometry& geometry,
                   const Conv2dOptions& options) {
    append(std::make_unique<Conv2d>(network_.parameters(), name, geometry, options));
  }
  void batch_norm(const std::string& name, const Shape& shape) {
    append(std::make_unique<BatchNorm>(network_.parameters(), name, shape, Activation::Relu));
  }
  void relu(const std::string& name, const Shape& shape) {
    append(std::make_unique<ActivationLayer>(name, shape, Activation::Relu));
  }
  void upsample(const std::string& name, const Shape& shape) {
    append(std::make_unique<Upsample2>(name, shape));
  }
  void pool(const std::string& name, const Shape& shape, float scale) {
    append(std::make_unique<Pool2>(name, shape, scale));
  }
  // The branch from here and the one that ended at `other` meet.
  void join(const std::string& name, const Shape& shape, int other) {
    source_ = network_.append(std::make_unique<Add>(name, shape), {other, source_});
  }

 private:
  void append(std::unique_ptr<Layer> layer) {
    source_ = network_.append(std::move(layer), {source_});
  }

  Network& network_;
  int source_;
};

// Batch norms cancel the bias of every convolution in a block: of what a shortcut carries on too,
// since the last one sees it.
constexpr Conv2dOptions kBeforeBatchNorm{.bias = BiasTraining::Frozen,
                                         .weight = Initializer::XavierUniformRelu};
constexpr Conv2dOptions kShortcutBeforeBatchNorm{.bias = BiasTraining::Frozen,
                                                 .weight = Initializer::XavierUniform};
constexpr Conv2dOptions kBeforeRelu{.activation = Activation::Relu,
                                    .weight = Initializer::XavierUniformRelu};
constexpr Conv2dOptions kBeforeSum{.weight = Initializer::XavierUniformRelu};
constexpr Conv2dOptions kWithoutRelu{.weight = Initializer::XavierUniform};

// [side,side,width] -> [2 side,2 side,width]: BN-ReLU-up-conv3-BN-ReLU-conv3 + conv1-up.
void add_up_block(Network& network, const std::string& name, std::int64_t side,
                  std::int64_t width) {
  const Shape small{side, side, width}, large{2 * side, 2 * side, width};
  const ConvGeometry convolution = same_convolution(2 * side, 3, width, width);
  Branches branch(network);
  const int input = branch.source();
  branch.batch_norm(name + ".batch_norm1", small);
  branch.upsample(name + ".upsample", small);
  branch.convolution(name + ".conv1", convolution, kBeforeBatchNorm);
  branch.batch_norm(name + ".batch_norm2", large);
  branch.convolution(name + ".conv2", convolution, kBeforeBatchNorm);
  const int main = branch.source();
  branch.fork(input);
  branch.convolution(name + ".shortcut", same_convolution(side, 1, width, width),
                     kShortcutBeforeBatchNorm);
  branch.upsample(name + ".shortcut_upsample", small);
  branch.join(name + ".sum", large, main);
}

// [side,side,in] -> [side/2,side/2,width]: conv3-ReLU-conv3-pool + pool-conv1.
void add_first_block(Network& network, const std::string& name, std::int64_t side, std::int64_t in,
                     std::int64_t width) {
  const Shape large{side, side, width}, small{side / 2, side / 2, width};
  Branches branch(network);
  const int input = branch.source();
  branch.convolution(name + ".conv1", same_convolution(side, 3, in, width), kBeforeRelu);
  branch.convolution(name + ".conv2", same_convolution(side, 3, width, width), kBeforeSum);
  branch.pool(name + ".pool", large, kAverage);
  const int main = branch.source();
  branch.fork(input);
  branch.pool(name + ".shortcut_pool", {side, side, in}, kAverage);
  branch.convolution(name + ".shortcut", same_convolution(side / 2, 1, in, width), kWithoutRelu);
  branch.join(name + ".sum", small, main);
}

// [side,side,width] -> [side/2,side/2,width]: ReLU-conv3-ReLU-conv3-pool + conv1-pool.
void add_down_block(Network& network, const std::string& name, std::int64_t side,
                    std::int64_t width) {
  const Shape large{side, side, width}, small{side / 2, side / 2, width};
  const ConvGeometry convolution = same_convolution(side, 3, width, width);
  Branches branch(network);
  const int input = branch.source();
  branch.relu(name + ".relu", large);
  branch.convolution(name + ".conv1", convolution, kBeforeRelu);
  branch.convolution(name + ".conv2", convolution, kBeforeSum);
  branch.pool(name + ".pool", large, kAverage);
  const int main = branch.source();
  branch.fork(input);
  branch.convolution(name + ".shortcut", same_convolution(side, 1, width, width), kWithoutRelu);
  branch.pool(name + ".shortcut_pool", large, kAverage);
  branch.join(name + ".sum", small, main);
}

// [side,side,width] as it is: ReLU-conv3-ReLU-conv3 + input.
void add_plain_block(Network& network, const std::string& name, std::int64_t side,
                     std::int64_t width) {
  const Shape shape{side, side, width};
  const ConvGeometry convolution = same_convolution(side, 3, width, width);
  Branches branch(network);
  const int input = branch.source();
  branch.relu(name + ".relu", shape);
  branch.convolution(name + ".conv1", convolution, kBeforeRelu);
  branch.convolution(name + ".conv2", convolution, kBeforeSum);
  const int main = branch.source();
  branch.fork(input);
  branch.join(name + ".sum", shape, main);
}

}  // namespace

void build_residual_generator(Network& network, const AcganShape& shape) {
  const std::int64_t width = shape.widths.generator_width;
  std::int64_t side = shape.image_size / 8;
  network.add<Dense>("dense1", shape.widths.latent_dim + shape.classes, side * side * width,
                     BiasTraining::Trained);
  for (std::int64_t block = 1; block <= kGeneratorBlocks; ++block, side *= 2) {
    add_up_block(network, fmt::format("block{}", block), side, width);
  }
  network.add<BatchNorm>("batch_norm5", Shape{side, side, width}, Activation::Relu);
  network.add<Conv2d>("conv5", same_convolution(side, 3, width, shape.channels), kWithoutRelu);
  network.append(std::make_unique<Sigmoid>("sigmoid", Shape{side, side, shape.channels}));
}

void build_residual_trunk(Network& network, const AcganShape& shape) {
  const std::int64_t width = shape.widths.discriminator_width;
  std::int64_t side = shape.image_size;
  add_first_block(network, "block1", side, shape.channels, width);
  add_down_block(network, "block2", side / 2, width);
  side /= 4;
  add_plain_block(network, "block3", side, width);
  add_plain_block(network, "block4", side, width);
  network.append(
      std::make_unique<ActivationLayer>("relu5", Shape{side, side, width}, Activation::Relu));
  for (int pool = 1; side > 1; ++pool, side = (side + 1) / 2) {
    network.append(
        std::make_unique<Pool2>(fmt::format("sum_pool{}", pool), Shape{side, side, width}, 1.0f));
  }
}

}  // namespace acgan
