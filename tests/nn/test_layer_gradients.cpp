#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "backend/open_backend.h"
#include "model/residual.h"
#include "nn/activation_layer.h"
#include "nn/add.h"
#include "nn/batch_norm.h"
#include "nn/conv2d.h"
#include "nn/conv_transpose2d.h"
#include "nn/dense.h"
#include "nn/network.h"
#include "nn/pool2.h"
#include "nn/sigmoid.h"
#include "nn/upsample2.h"

// Every layer, and chains of them, against finite differences: two groups of rows, three cotangents
// of which two meet the same group, and two gradient targets. Loss j is the sum of dy_j * y over
// the rows of its group.

namespace acgan {
namespace {

constexpr std::int64_t kRows = 3;
constexpr std::array<int, 3> kGroupOf{0, 1, 1};

// Differences are taken at up to `count` elements of an array. A ReLU that meets its kink is seen
// as an error of `size`, rounding as one of its inverse.
struct Steps {
  std::int64_t count = 60;
  float size = 4e-3f;
  double tolerance = 2e-3, noise = 2e-4;  // relative, absolute
};

class GradientCheck {
 public:
  GradientCheck(const std::function<void(Network&)>& build, const Shape& input)
      : backend_(open_backend("host", 1)), network_("net") {
    build(network_);
    network_.allocate(*backend_, DType::F32);
    network_.parameters().initialize(3);
    x_ = OwnedTensor(*backend_, with_rows(2 * kRows, input), DType::F32);
    fill(x_.view(), 1.0f);
    for (int i = 0; i < network_.parameters().parameters(); ++i) {
      const Tensor parameter = network_.parameters().master(i);
      if (parameter.shape.rank() == 1) fill(parameter, 0.5f, 1.0f);  // not the trivial 0 and 1
    }
    activations_ = std::make_unique<Activations>(network_, kRows, 2);
    scratch_.reserve(network_, 3 * kRows);
    scratch_.allocate(*backend_);
    dy_ = OwnedTensor(*backend_, with_rows(3 * kRows, network_.layers().back()->output_shape()),
                      DType::F32);
    fill(dy_.view(), 1.0f);
  }

  // Moves what ReLUs see away from their kinks: half of the channels are on, half off.
  GradientCheck& away_from_kinks(float shift) {
    const ParameterStore& store = network_.parameters();
    for (int i = 0; i < store.parameters(); ++i) {
      const std::string& name = store.parameter_name(i);
      const Tensor values = store.master(i);
      if (!name.ends_with(".beta") && !(name.ends_with("1.bias") && values.count() < 10)) continue;
      for (std::int64_t c = 0; c < values.count(); ++c) {
        values.as<float>()[c] = c % 2 == 0 ? shift : -shift;
      }
    }
    return *this;
  }

  void run(const Steps& steps = {}) {
    steps_ = steps;
    GradientStore first(network_.parameters()), second(network_.parameters());
    OwnedTensor dx(*backend_, with_rows(2 * kRows, network_.layers().front()->input_shape()),
                   DType::F32);
    OwnedTensor dy(*backend_, dy_.view().shape, DType::F32);
    backend_->copy(dy_.view(), dy.view());
    network_.forward(x_.view(), *activations_);
    const std::array targets{GradientTarget{&first, 0, 2}, GradientTarget{&second, 2, 3}};
    network_.backward(*activations_, scratch_,
                      {.dy = dy.view(),
                       .group_of = kGroupOf,
                       .targets = targets,
                       .dx = dx.view(),
                       .dx_begin = 1});
    for (int i = 0; i < network_.parameters().parameters(); ++i) {
      INFO(network_.parameters().parameter_name(i));
      compare(network_.parameters().master(i), first.view(i), {0, 1});
      compare(network_.parameters().master(i), second.view(i), {2});
    }
    INFO("input");
    const Tensor x = x_.view().slice(kRows, kRows);  // of group 1
    compare(x, dx.view().slice(0, kRows), {1});
    compare(x, dx.view().slice(kRows, kRows), {2});
  }

 private:
  void fill(const Tensor& tensor, float scale, float shift = 0.0f) {
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
      tensor.as<float>()[i] = shift + scale * uniform_symmetric(random_.next());
    }
  }

  double loss(const std::vector<int>& cotangents) {
    network_.forward(x_.view(), *activations_);
    double sum = 0;
    for (const int j : cotangents) {
      const Tensor y =
          activations_->output().slice(kGroupOf[static_cast<std::size_t>(j)] * kRows, kRows);
      const Tensor dy = dy_.view().slice(j * kRows, kRows);
      for (std::int64_t i = 0; i < y.count(); ++i)
        sum += double{dy.as<float>()[i]} * y.as<float>()[i];
    }
    return sum;
  }

  // Relative L2 distance of `found` from four-point differences of the loss.
  void compare(const Tensor& variable, const Tensor& found, const std::vector<int>& cotangents) {
    const float step = steps_.size;
    const std::int64_t stride = std::max<std::int64_t>(1, variable.count() / steps_.count);
    double error = 0, size = 0;
    for (std::int64_t i = 0; i < variable.count(); i += stride) {
      float& value = variable.as<float>()[i];
      const float saved = value;
      const auto at = [&](float offset) {
        value = saved + offset;
        return loss(cotangents);
      };
      const double near = (at(step) - at(-step)) / (2 * step);
      const double far = (at(2 * step) - at(-2 * step)) / (4 * step);
      value = saved;
      const double expected = (4 * near - far) / 3;
      error += std::pow(found.as<float>()[i] - expected, 2);
      size += expected * expected;
    }
    CHECK(std::sqrt(error) <= steps_.tolerance * std::sqrt(size) + steps_.noise);
  }

  std::unique_ptr<Backend> backend_;
  Network network_;
  PhiloxSequence random_{11, RandomStream::Weights, 5};
  Steps steps_;
  OwnedTensor x_, dy_;
  std::unique_ptr<Activations> activations_;
  GradientScratch scratch_;
};

TEST_CASE("dense gradient") {
  GradientCheck([](Network& net) { net.add<Dense>("dense", 5, 7, BiasTraining::Trained); }, {5})
      .run();
}

TEST_CASE("convolution gradient, with and without activation") {
  const Activation activation = GENERATE(Activation::None, Activation::LeakyRelu);
  GradientCheck(
      [&](Network& net) {
        net.add<Conv2d>("conv", halving_convolution(6, 3, 5),
                        Conv2dOptions{.activation = activation});
      },
      {6, 6, 3})
      .run();
}

TEST_CASE("gradient of convolutions that keep the size") {
  const std::int64_t kernel = GENERATE(1, 3);
  GradientCheck([&](Network& net) { net.add<Conv2d>("conv", same_convolution(5, kernel, 3, 4)); },
                {5, 5, 3})
      .run();
}

TEST_CASE("gradient of an activation, of pooling and of upsampling") {
  std::unique_ptr<Layer> layer;
  const Shape shape = GENERATE(Shape{4, 2, 3}, Shape{5, 3, 2});
  SECTION("activation") {
    const Activation activation = GENERATE(Activation::Relu, Activation::LeakyRelu);
    layer = std::make_unique<ActivationLayer>("activation", shape, activation);
  }
  SECTION("pooling") { layer = std::make_unique<Pool2>("pool", shape, GENERATE(1.0f, 0.25f)); }
  SECTION("upsampling") { layer = std::make_unique<Upsample2>("upsample", shape); }
  GradientCheck([&](Network& net) { net.append(std::move(layer)); }, shape).run({.size = 0x1p-12f});
}

TEST_CASE("gradient of a sum of two branches, each way round") {
  const bool is_swapped = GENERATE(false, true);
  GradientCheck(
      [&](Network& net) {
        const int first = net.add<Conv2d>("conv1", same_convolution(4, 3, 2, 3));
        const int second = net.append(
            std::make_unique<Conv2d>(net.parameters(), "conv2", same_convolution(4, 1, 2, 3)),
            {kNetworkInput});
        net.append(std::make_unique<Add>("sum", Shape{4, 4, 3}),
                   is_swapped ? std::vector{second, first} : std::vector{first, second});
      },
      {4, 4, 2})
      .run();
}

TEST_CASE("gradient of what several layers read: outputs, the input, one layer twice") {
  GradientCheck(
      [&](Network& net) {
        const Shape shape{3, 3, 2};
        const auto add = [&](int a, int b) {
          return net.append(std::make_unique<Add>("sum", shape), {a, b});
        };
        const int conv = net.add<Conv2d>("conv1", same_convolution(3, 3, 2, 2));
        const int norm = net.add<BatchNorm>("norm", shape, Activation::None);
        const int twice = add(norm, norm);
        const int sum = add(conv, twice);
        const int other = add(kNetworkInput, sum);
        net.append(
            std::make_unique<Conv2d>(net.parameters(), "conv2", same_convolution(3, 1, 2, 2)),
            {sum});
        add(net.newest(), other);
        add(net.newest(), kNetworkInput);
      },
      {3, 3, 2})
      .run();
}

// Layers are held to closer bounds above; here a branch that is left out or counted twice shows.
constexpr Steps kWholeNetwork{.count = 6, .size = 0x1p-8f, .tolerance = 0.01, .noise = 1e-3};

TEST_CASE("gradient of the residual generator and trunk") {
  AcganShape shape{.image_size = 16, .channels = 3, .classes = 2, .widths = {}};
  shape.widths.preset = ModelPreset::Resnet32;
  shape.widths.latent_dim = 3;
  shape.widths.generator_width = 3;
  shape.widths.discriminator_width = 4;
  SECTION("generator") {
    GradientCheck([&](Network& net) { build_residual_generator(net, shape); }, {5})
        .away_from_kinks(6.0f)
        .run(kWholeNetwork);
  }
  SECTION("trunk") {
    shape.image_size = GENERATE(8, 24);  // 24: sums over 6x6 pixels
    GradientCheck([&](Network& net) { build_residual_trunk(net, shape); },
                  {shape.image_size, shape.image_size, 3})
        .away_from_kinks(2.0f)
        .run({.count = 6, .size = 0x1p-9f, .tolerance = 0.01, .noise = 0.02});
  }
}

TEST_CASE("transposed convolution gradient") {
  GradientCheck(
      [](Network& net) { net.add<ConvTranspose2d>("deconv", 3, 5, 2, BiasTraining::Trained); },
      {3, 3, 5})
      .run();
}

TEST_CASE("batch norm gradient goes through its statistics") {
  const Activation activation = GENERATE(Activation::None, Activation::Relu, Activation::LeakyRelu);
  GradientCheck(
      [&](Network& net) {
        net.add<BatchNorm>("norm", Shape{4, 3, 5}, activation);
      },
      {4, 3, 5})
      .run();
}

TEST_CASE("sigmoid gradient") {
  GradientCheck(
      [](Network& net) {
        net.append(std::make_unique<Sigmoid>("sigmoid", Shape{2, 3}));
      },
      {2, 3})
      .run();
}

TEST_CASE("a chain as the generator's end") {
  GradientCheck(
      [](Network& net) {
        net.add<Dense>("dense", 6, 3 * 3 * 4, BiasTraining::Trained);
        net.add<BatchNorm>("norm1", Shape{3 * 3 * 4}, Activation::None);
        net.add<ConvTranspose2d>("deconv", 3, 4, 1, BiasTraining::Trained);
        net.append(std::make_unique<Sigmoid>("sigmoid", Shape{6, 6, 1}));
      },
      {6})
      .run();
}

TEST_CASE("a frozen bias gets no gradient") {
  const auto backend = open_backend("host", 1);
  Network network("net");
  network.add<Dense>("dense", 4, 3, BiasTraining::Frozen);
  network.allocate(*backend, DType::F32);
  network.parameters().initialize(1);
  Activations activations(network, 2, 1);
  const GradientScratch scratch;  // one layer needs none
  OwnedTensor x(*backend, {2, 4}, DType::F32), dy(*backend, {2, 3}, DType::F32);
  for (int i = 0; i < 6; ++i) dy.view().as<float>()[i] = 1.0f;
  network.forward(x.view(), activations);
  GradientStore gradients(network.parameters());
  const std::array targets{GradientTarget{&gradients, 0, 1}};
  constexpr std::array<int, 1> kGroup{0};
  network.backward(activations, scratch,
                   {.dy = dy.view(), .group_of = kGroup, .targets = targets, .dx = {}});
  CHECK(gradients.view(1).as<float>()[0] == 0.0f);
}

}  // namespace
}  // namespace acgan
