#include <catch2/catch.hpp>
#include <filesystem>

#include "config/load_config.h"

namespace acgan::test {

TEST_CASE("the configs that come with the program are valid") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ACGAN_CONFIG_DIR)) {
    CAPTURE(entry.path());
    if (entry.path().filename() == "prices.yaml" || entry.path().extension() != ".yaml") continue;
    const Config config = load_config(entry.path().string(), {});
    CHECK(config.train.batch == 64);
    CHECK(config.precision.mode == PrecisionMode::Fp32);
    CHECK(config.model.conv1_width % 8 == 0);  // what tensor cores take without detours
    CHECK(config.model.conv2_width % 8 == 0);
    CHECK(config.model.generator_width % 8 == 0);
    CHECK(config.model.discriminator_width % 8 == 0);
    ++count;
  }
  CHECK(count == 4);
  const Config quickstart = load_config(ACGAN_CONFIG_DIR "/quickstart.yaml", {});
  CHECK(quickstart.data.kind == DataKind::Doodles);
  CHECK(quickstart.train.minutes == 2);
  CHECK(quickstart.output.sample_every == 0.5);
  CHECK(load_config(ACGAN_CONFIG_DIR "/cifar10.yaml", {}).data.image_size == 32);
  const Config residual = load_config(ACGAN_CONFIG_DIR "/cifar10_resnet32.yaml", {});
  CHECK(residual.model.preset == ModelPreset::Resnet32);
  CHECK(residual.data.image_size == 32);
}

}  // namespace acgan::test
