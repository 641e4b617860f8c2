#include "model/residual.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "backend/open_backend.h"

namespace acgan {
namespace {

AcganShape residual_shape(std::int64_t image_size) {
  AcganShape shape{.image_size = image_size, .channels = 3, .classes = 10, .widths = {}};
  shape.widths.preset = ModelPreset::Resnet32;
  return shape;
}

TEST_CASE("names, shapes and counts of the residual networks") {
  const auto backend = open_backend("host", 1);
  Acgan model(*backend, residual_shape(32), DType::F32);
  const ParameterStore& generator = model.generator.parameters();
  CHECK(generator.parameter_name(0) == "generator.dense1.weight");
  CHECK(generator.master(0).shape == Shape{4 * 4 * 256, 110});
  CHECK(generator.parameter_name(4) == "generator.block1.conv1.weight");
  CHECK(generator.master(4).shape == Shape{256, 3, 3, 256});
  const std::int64_t block = 2 * (9 * 256 * 256 + 256) + 256 * 256 + 256 + 4 * 256;
  CHECK(generator.parameter_count() == 4096 * 111 + 3 * block + 2 * 256 + 9 * 256 * 3 + 3);
  const std::int64_t conv = 9 * 128 * 128 + 128;
  CHECK(model.trunk.parameters().parameter_count() ==
        9 * 3 * 128 + 128 + 3 * 128 + 128 + conv + 128 * 128 + 128 + 6 * conv);
  CHECK(model.source_head.parameters().master(0).shape == Shape{1, 128});
  CHECK(model.classifier.parameters().master(0).shape == Shape{128, 128});
}

// Twice the second moment inside blocks, where a ReLU halves it (He et al. 2015, section 2.2).
TEST_CASE("residual convolutions start with the spread that their fans ask for") {
  const auto backend = open_backend("host", 1);
  Acgan model(*backend, residual_shape(32), DType::F32);
  model.initialize(3);
  const ParameterStore& trunk = model.trunk.parameters();
  const auto largest = [&](const std::string& name) {
    for (int i = 0; i < trunk.parameters(); ++i) {
      if (trunk.parameter_name(i) != "discriminator." + name) continue;
      const float* values = trunk.master(i).as<float>();
      return double{*std::max_element(values, values + trunk.master(i).count())};
    }
    return 0.0;
  };
  CHECK(largest("block2.conv1.weight") == Approx(std::sqrt(12.0 / (9 * 256))).epsilon(1e-3));
  CHECK(largest("block2.shortcut.weight") == Approx(std::sqrt(6.0 / 256)).epsilon(1e-3));
}

TEST_CASE("features are sums over all pixels, whatever their number") {
  const std::int64_t size = GENERATE(8, 24, 40, 32);  // 2, 6, 10 and 8 pixels a side
  AcganShape shape = residual_shape(size);
  shape.widths.discriminator_width = 5;
  const auto backend = open_backend("host", 1);
  Network trunk("discriminator");
  build_residual_trunk(trunk, shape);
  trunk.allocate(*backend, DType::F32);
  trunk.parameters().initialize(1);
  OwnedTensor x(*backend, {2, size, size, 3}, DType::F32);
  PhiloxSequence random(4, RandomStream::Doodles, 0);
  for (std::int64_t i = 0; i < x.view().count(); ++i) {
    x.view().as<float>()[i] = uniform_symmetric(random.next());
  }
  Activations pass(trunk, 2, 1);
  trunk.forward(x.view(), pass);
  const auto relu = std::find_if(trunk.layers().begin(), trunk.layers().end(),
                                 [](const auto& layer) { return layer->name() == "relu5"; });
  REQUIRE(relu != trunk.layers().end());
  const Tensor pixels = pass.outputs()[static_cast<std::size_t>(relu - trunk.layers().begin())];
  REQUIRE(pixels.shape == Shape{2, size / 4, size / 4, 5});
  REQUIRE(pass.output().count() == 2 * 5);
  for (std::int64_t n = 0; n < 2; ++n) {
    for (std::int64_t c = 0; c < 5; ++c) {
      double sum = 0;
      for (std::int64_t p = 0; p < size / 4 * (size / 4); ++p) {
        sum += pixels.as<float>()[(n * (size / 4) * (size / 4) + p) * 5 + c];
      }
      CHECK(pass.output().as<float>()[n * 5 + c] == Approx(sum).epsilon(1e-5));
    }
  }
}

}  // namespace
}  // namespace acgan
