#include "quality/feature_net.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/checksum.h"
#include "base/error.h"
#include "data/data_loader.h"
#include "nn/batch_norm.h"
#include "nn/conv2d.h"
#include "nn/dense.h"
#include "optim/adam.h"

namespace acgan {
namespace {

constexpr std::int64_t kBatch = 64;
constexpr std::int64_t kEpochs = 6;
constexpr std::int64_t kFewestSteps = 300, kMostSteps = 3000;
constexpr float kLearningRate = 3e-3f;
constexpr std::int64_t kChunk = 128;  // images computed at a time
constexpr float kPixelMax = 255.0f;

constexpr std::int64_t kFirstWidth = 32, kMostWidth = 128;
constexpr std::int64_t kSmallSide = 7;  // no convolution makes such an image smaller

void build_trunk(Network& network, const FeatureNetShape& shape) {
  std::int64_t side = shape.image_size / 2, channels = kFirstWidth;
  network.add<Conv2d>("conv1", halving_convolution(shape.image_size, shape.channels, channels),
                      Conv2dOptions{.activation = Activation::LeakyRelu});
  for (int layer = 2; side > kSmallSide && side % 2 == 0; ++layer) {
    const std::int64_t width = std::min(2 * channels, kMostWidth);
    network.add<Conv2d>(fmt::format("conv{}", layer), halving_convolution(side, channels, width),
                        Conv2dOptions{.bias = BiasTraining::Frozen});
    side /= 2;
    channels = width;
    network.add<BatchNorm>(fmt::format("batch_norm{}", layer), Shape{side, side, width},
                           Activation::LeakyRelu);
  }
  network.add<Dense>("features", side * side * channels, kFeatureWidth, BiasTraining::Frozen);
  network.add<BatchNorm>("batch_norm", Shape{kFeatureWidth}, Activation::LeakyRelu);
}

// Calls visit(name, tensor) for all that the networks remember.
template <typename Visitor>
void visit_arrays(std::initializer_list<const Network*> networks, const Visitor& visit) {
  for (const Network* network : networks) {
    const ParameterStore& store = network->parameters();
    for (int i = 0; i < store.parameters(); ++i) visit(store.parameter_name(i), store.master(i));
    for (int i = 0; i < store.statistics(); ++i) visit(store.statistic_name(i), store.statistic(i));
  }
}

std::vector<std::int64_t> extents_of(const Shape& shape) {
  std::vector<std::int64_t> extents;
  for (int axis = 0; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
  return extents;
}

// Copies an image [S,S,C] moved by (dx, dy) pixels; its edge is repeated.
void copy_moved(std::span<const std::uint8_t> image, std::int64_t side, std::int64_t channels,
                std::int64_t dx, std::int64_t dy, std::span<std::uint8_t> moved) {
  auto out = moved.begin();
  for (std::int64_t y = 0; y < side; ++y) {
    const std::int64_t from_y = std::clamp(y - dy, std::int64_t{0}, side - 1);
    for (std::int64_t x = 0; x < side; ++x) {
      const std::int64_t from_x = std::clamp(x - dx, std::int64_t{0}, side - 1);
      const std::int64_t pixel = (from_y * side + from_x) * channels;
      out = std::copy_n(image.begin() + pixel, channels, out);
    }
  }
}

// Images of one batch on their way into a network.
class ImageBatch {
 public:
  ImageBatch(Backend& backend, const FeatureNetShape& shape, std::int64_t rows)
      : backend_(backend),
        pixels_(backend, {rows, shape.image_size, shape.image_size, shape.channels}, DType::U8),
        images_(backend, pixels_.view().shape, DType::F32),
        indices_(backend, {rows}, DType::I32),
        host_(pixels_.view().bytes()) {
    std::vector<std::int32_t> in_order(static_cast<std::size_t>(rows));
    std::iota(in_order.begin(), in_order.end(), 0);
    backend.upload(indices_.view(), in_order.data());
  }

  std::size_t image_bytes() const { return static_cast<std::size_t>(pixels_.view().row_size()); }
  // Where image `row` is to be put, on the host.
  std::span<std::uint8_t> row(std::size_t row) {
    return std::span(host_).subspan(row * image_bytes(), image_bytes());
  }
  // [rows, S, S, C] in [0,1], of what was put there.
  const Tensor& upload() {
    backend_.upload(pixels_.view(), host_.data());
    backend_.gather_images(pixels_.view(), indices_.view(), kPixelMax, images_.view());
    return images_.view();
  }

 private:
  Backend& backend_;
  OwnedTensor pixels_, images_, indices_;
  std::vector<std::uint8_t> host_;
};

}  // namespace

// What training needs beside the net itself.
struct FeatureNet::Training {
  Training(FeatureNet& owner, const Dataset& data)
      : net(owner),
        dataset(data),
        loader(data.count(), kFeatureNetSeed),
        moves(kFeatureNetSeed, RandomStream::Augmentation, 0),
        adam(net.backend_, "feature_net", {&net.trunk_.parameters(), &net.head_.parameters()},
             {.constants = {.beta1 = 0.9f},
              .learning_rate = kLearningRate,
              .policy = {},
              .schedule = {}}),
        images(net.backend_, net.shape_, kBatch),
        labels(net.backend_, {kBatch}, DType::I32),
        loss(net.backend_, {1}, DType::F32),
        logit_gradient(net.backend_, {kBatch, net.shape_.classes}, DType::F32),
        feature_gradient(net.backend_, {kBatch, kFeatureWidth}, DType::F32),
        trunk_pass(net.trunk_, kBatch, 1),
        head_pass(net.head_, kBatch, 1) {
    scratch.reserve(net.trunk_, kBatch);
    scratch.reserve(net.head_, kBatch);
    scratch.allocate(net.backend_);
  }

  std::int64_t steps() const {
    return std::clamp(kEpochs * dataset.count() / kBatch, kFewestSteps, kMostSteps);
  }
  void set_learning_rate(double progress);  // 0..1
  void load_batch();
  void step();

  FeatureNet& net;
  const Dataset& dataset;
  DataLoader loader;
  PhiloxSequence moves;
  Adam adam;
  ImageBatch images;
  OwnedTensor labels, loss, logit_gradient, feature_gradient;
  Activations trunk_pass, head_pass;
  GradientScratch scratch;
};

void FeatureNet::Training::set_learning_rate(double progress) {
  OptimizerState state = adam.read_state();
  state.learning_rate =
      kLearningRate * static_cast<float>(0.5 * (1 + std::cos(std::numbers::pi * progress)));
  adam.write_state(state);
}

void FeatureNet::Training::load_batch() {
  const std::int64_t side = net.shape_.image_size;
  const std::int64_t most = std::max(std::int64_t{1}, side / 14);
  const auto choices = static_cast<std::uint32_t>(2 * most + 1);
  std::array<std::int32_t, kBatch> indices{}, classes{};
  loader.next(indices);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto index = static_cast<std::size_t>(indices[i]);
    const std::int64_t dx = moves.next_below(choices) - most;
    const std::int64_t dy = moves.next_below(choices) - most;
    copy_moved(
        std::span(dataset.images).subspan(index * images.image_bytes(), images.image_bytes()), side,
        net.shape_.channels, dx, dy, images.row(i));
    classes[i] = dataset.labels[index];
  }
  net.backend_.upload(labels.view(), classes.data());
}

void FeatureNet::Training::step() {
  constexpr std::array<int, 1> kOneGroup = {0};
  load_batch();
  net.trunk_.forward(images.upload(), trunk_pass);
  net.head_.forward(trunk_pass.output(), head_pass);
  net.backend_.softmax_cross_entropy(
      head_pass.output(), labels.view(),
      {.loss = loss.view().as<float>(), .gradient = logit_gradient.view(), .scaler = adam.state()},
      nullptr);
  const GradientTarget to_head{&adam.gradients(net.head_.parameters()), 0, 1};
  net.head_.backward(head_pass, scratch,
                     {.dy = logit_gradient.view(),
                      .group_of = kOneGroup,
                      .targets = {&to_head, 1},
                      .dx = feature_gradient.view()});
  const GradientTarget to_trunk{&adam.gradients(net.trunk_.parameters()), 0, 1};
  net.trunk_.backward(
      trunk_pass, scratch,
      {.dy = feature_gradient.view(), .group_of = kOneGroup, .targets = {&to_trunk, 1}, .dx = {}});
  adam.finish_gradients();
  net.trunk_.update_running(trunk_pass, 1, adam.state());
  Adam* const optimizer = &adam;
  update_parameters(net.trunk_.parameters(), {&optimizer, 1});
  update_parameters(net.head_.parameters(), {&optimizer, 1});
  adam.finish();
}

FeatureNet::FeatureNet(Backend& backend, const FeatureNetShape& shape)
    : backend_(backend), shape_(shape) {
  build_trunk(trunk_, shape);
  head_.add<Dense>("logits", kFeatureWidth, shape.classes, BiasTraining::Trained,
                   DenseOutput::Float);
  for (Network* network : {&trunk_, &head_}) {
    network->allocate(backend, DType::F32);
    network->parameters().initialize(kFeatureNetSeed);
  }
}

void FeatureNet::train(const Dataset& dataset) {
  constexpr std::int64_t kStages = 100;  // in which the learning rate falls
  ACGAN_CHECK(dataset.height == shape_.image_size && dataset.channels == shape_.channels);
  for (Network* network : {&trunk_, &head_}) network->parameters().initialize(kFeatureNetSeed);
  Training training(*this, dataset);
  const std::int64_t steps = training.steps(), stage = std::max(std::int64_t{1}, steps / kStages);
  for (std::int64_t step = 0; step < steps; ++step) {
    if (step % stage == 0) {
      training.set_learning_rate(static_cast<double>(step) / static_cast<double>(steps));
    }
    training.step();
  }
  backend_.synchronize();
}

FeatureSet FeatureNet::extract(std::span<const std::uint8_t> images,
                               std::span<const std::int32_t> labels) {
  ImageBatch batch(backend_, shape_, kChunk);
  Activations trunk_pass(trunk_, kChunk, 1), head_pass(head_, kChunk, 1);
  const std::size_t count = images.size() / batch.image_bytes();
  ACGAN_CHECK(count * batch.image_bytes() == images.size());
  ACGAN_CHECK(labels.empty() || labels.size() == count);
  FeatureSet set{.width = kFeatureWidth,
                 .values = {},
                 .labels = {labels.begin(), labels.end()},
                 .predicted = {}};
  std::vector<float> features(kChunk * kFeatureWidth);
  std::vector<float> logits(static_cast<std::size_t>(kChunk * shape_.classes));
  for (std::size_t begin = 0; begin < count; begin += kChunk) {
    const std::size_t n = std::min(std::size_t{kChunk}, count - begin);
    for (std::size_t i = 0; i < n; ++i) {
      std::copy_n(&images[(begin + i) * batch.image_bytes()], batch.image_bytes(),
                  batch.row(i).begin());
    }
    trunk_.infer(batch.upload(), trunk_pass);
    head_.infer(trunk_pass.output(), head_pass);
    backend_.download(features.data(), trunk_pass.output());
    backend_.download(logits.data(), head_pass.output());
    set.values.insert(set.values.end(), features.begin(),
                      features.begin() + static_cast<std::ptrdiff_t>(n * kFeatureWidth));
    for (std::size_t i = 0; i < n; ++i) {
      const auto row = logits.begin() + static_cast<std::ptrdiff_t>(i) * shape_.classes;
      const auto largest = std::max_element(row, row + shape_.classes);
      set.predicted.push_back(static_cast<std::int32_t>(largest - row));
    }
  }
  return set;
}

Checkpoint FeatureNet::save() const {
  Checkpoint checkpoint;
  visit_arrays({&trunk_, &head_}, [&](const std::string& name, const Tensor& tensor) {
    std::vector<float> host(static_cast<std::size_t>(tensor.count()));
    backend_.download(host.data(), tensor);
    checkpoint.set(name, Checkpoint::Type::F32, extents_of(tensor.shape), host.data());
  });
  return checkpoint;
}

void FeatureNet::load(const Checkpoint& checkpoint) {
  visit_arrays({&trunk_, &head_}, [&](const std::string& name, const Tensor& tensor) {
    const Checkpoint::Array& array = checkpoint.at(name);
    if (array.type != Checkpoint::Type::F32 || array.shape != extents_of(tensor.shape)) {
      fail(ErrorKind::Output, "{}: \"{}\" should be F32 {}, found shape [{}]", checkpoint.source(),
           name, tensor.shape.text(), fmt::join(array.shape, ","));
    }
    backend_.upload(tensor, array.bytes.data());
  });
  for (Network* network : {&trunk_, &head_}) network->parameters().refresh_working();
}

std::string FeatureNet::id() const {
  Checksum checksum;
  const Checkpoint checkpoint = save();
  for (const auto& [name, array] : checkpoint.arrays()) {
    checksum.add(name);
    checksum.add(array.bytes);
  }
  return fmt::format("{:016x}", checksum.value());
}

}  // namespace acgan
