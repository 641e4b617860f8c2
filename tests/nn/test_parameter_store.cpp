#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "backend/open_backend.h"
#include "model/acgan.h"

namespace acgan {
namespace {

AcganShape small_shape() {
  return {.image_size = 8,
          .channels = 3,
          .classes = 3,
          .widths = {.latent_dim = 5,
                     .dense_width = 16,
                     .conv1_width = 4,
                     .conv2_width = 8,
                     .classifier_width = 6}};
}

std::vector<float> values_of(const Tensor& tensor) {
  return {tensor.as<float>(), tensor.as<float>() + tensor.count()};
}

TEST_CASE("initial weights depend on the seed and on nothing else") {
  const auto host = open_backend("host", 1);
  const auto cpu = open_backend("cpu", 0);
  Acgan a(*host, small_shape(), DType::F32), b(*cpu, small_shape(), DType::F16),
      c(*host, small_shape(), DType::F32);
  a.initialize(7);
  b.initialize(7);
  c.initialize(8);
  for (std::size_t i = 0; i < 4; ++i) {
    const ParameterStore& store = a.networks()[i]->parameters();
    const auto reference = values_of(store.flat_master());
    CHECK(reference == values_of(b.networks()[i]->parameters().flat_master()));
    CHECK(reference != values_of(c.networks()[i]->parameters().flat_master()));
  }
}

TEST_CASE("initialisers have the spread they promise") {
  const auto backend = open_backend("host", 1);
  ParameterStore store("net");
  const int normal =
      store.add("conv.weight", {64, 4, 4, 32}, Initializer::Normal, ParameterKind::Weight);
  const int xavier =
      store.add("dense.weight", {120, 240}, Initializer::XavierUniform, ParameterKind::Weight);
  const int ones = store.add("norm.gamma", {3}, Initializer::One, ParameterKind::Vector);
  store.allocate(*backend, DType::F32);
  store.initialize(1);
  const auto deviation = [&](int index) {
    double sum = 0, squares = 0;
    const std::vector<float> values = values_of(store.master(index));
    for (const float value : values) {
      sum += value;
      squares += double{value} * value;
    }
    const auto n = static_cast<double>(values.size());
    CHECK(std::abs(sum / n) < 1e-3);
    return std::sqrt(squares / n);
  };
  CHECK(deviation(normal) == Approx(0.02).epsilon(0.02));
  const double bound = std::sqrt(6.0 / 360.0);
  CHECK(deviation(xavier) == Approx(bound / std::sqrt(3.0)).epsilon(0.02));
  CHECK(values_of(store.master(ones)) == std::vector<float>{1, 1, 1});
}

TEST_CASE("the working copy follows the master in the compute type") {
  const auto backend = open_backend("host", 1);
  ParameterStore store("net");
  const int weight =
      store.add("dense.weight", {3, 5}, Initializer::XavierUniform, ParameterKind::Weight);
  store.allocate(*backend, DType::F16);
  store.initialize(2);
  for (int i = 0; i < 15; ++i) {
    const float master = store.master(weight).as<float>()[i];
    CHECK(store.working(weight).as<Half>()[i].bits == float_to_half_bits(master));
  }
}

TEST_CASE("names, shapes and counts of the study's networks") {
  const auto backend = open_backend("host", 1);
  Acgan model(*backend, AcganShape{}, DType::F32);
  const ParameterStore& generator = model.generator.parameters();
  CHECK(generator.parameter_name(0) == "generator.dense1.weight");
  CHECK(generator.master(0).shape == Shape{1024, 110});
  CHECK(generator.parameter_count() == 6689345);
  CHECK(model.trunk.parameters().parameter_name(0) == "discriminator.conv1.weight");
  CHECK(model.source_head.parameters().parameter_name(0) == "discriminator.dense4.weight");
  CHECK(model.classifier.parameters().parameter_name(0) == "classifier.dense1.weight");
}

}  // namespace
}  // namespace acgan
