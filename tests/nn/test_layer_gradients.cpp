#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "backend/open_backend.h"
#include "nn/batch_norm.h"
#include "nn/conv2d.h"
#include "nn/conv_transpose2d.h"
#include "nn/dense.h"
#include "nn/network.h"
#include "nn/sigmoid.h"

// Every layer, and chains of them, against finite differences: two groups of rows, three cotangents
// of which two meet the same group, and two gradient targets. Loss j is the sum of dy_j * y over
// the rows of its group.

namespace acgan {
namespace {

constexpr std::int64_t kRows = 3;
constexpr std::array<int, 3> kGroupOf{0, 1, 1};

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

  void run() {
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

  // Relative L2 distance of `found` from four-point differences of the loss in up to 60 elements.
  void compare(const Tensor& variable, const Tensor& found, const std::vector<int>& cotangents) {
    constexpr float kStep = 4e-3f;
    const std::int64_t stride = std::max<std::int64_t>(1, variable.count() / 60);
    double error = 0, size = 0;
    for (std::int64_t i = 0; i < variable.count(); i += stride) {
      float& value = variable.as<float>()[i];
      const float saved = value;
      const auto at = [&](float offset) {
        value = saved + offset;
        return loss(cotangents);
      };
      const double near = (at(kStep) - at(-kStep)) / (2 * kStep);
      const double far = (at(2 * kStep) - at(-2 * kStep)) / (4 * kStep);
      value = saved;
      const double expected = (4 * near - far) / 3;
      error += std::pow(found.as<float>()[i] - expected, 2);
      size += expected * expected;
    }
    CHECK(std::sqrt(error) <= 2e-3 * std::sqrt(size) + 2e-4);
  }

  std::unique_ptr<Backend> backend_;
  Network network_;
  PhiloxSequence random_{11, RandomStream::Weights, 5};
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
      [&](Network& net) { net.add<Conv2d>("conv", 6, 3, 5, BiasTraining::Trained, activation); },
      {6, 6, 3})
      .run();
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
