#include "train/image_feed.h"

#include <catch2/catch.hpp>

#include "backend/open_backend.h"

namespace acgan {
namespace {

TEST_CASE("batches sent from the host are those gathered on the device") {
  const std::string device = GENERATE("cpu", "emulated");
  const auto backend = open_backend(device, 0);
  DataConfig config;
  config.kind = DataKind::Doodles;
  config.doodles_per_class = 3;
  const Dataset dataset = load_dataset(config, 1);
  TrainStepOptions options;
  options.shape = {.image_size = 28, .channels = 1, .classes = 10, .widths = {}};
  options.shape.widths = {
      .latent_dim = 4, .dense_width = 8, .conv1_width = 8, .conv2_width = 8, .classifier_width = 8};
  options.batch = 6;
  TrainStep first(*backend, options), second(*backend, options);
  first.model().initialize(1);
  second.model().initialize(1);
  ImageFeed on_device(*backend, dataset, 6, 0), from_host(*backend, dataset, 6, 0, Residence::Host);
  CHECK(on_device.on_device());
  CHECK_FALSE(from_host.on_device());
  const std::vector<std::vector<std::int32_t>> batches{{29, 0, 7, 7, 13, 2}, {1, 2, 3, 4, 5, 6}};
  for (const auto& batch : batches) {
    on_device.load(first, batch);
    from_host.load(second, batch);
    first.run();
    second.run();
    const StepMetrics a = first.read_metrics(), b = second.read_metrics();
    CHECK(a.d() == b.d());
    CHECK(a.g == b.g);
    CHECK(a.q() == b.q());
  }
  CHECK_THROWS_AS(from_host.load(second, std::vector<std::int32_t>(6, 30)), std::logic_error);
}

TEST_CASE("a set that does not fit beside the step stays on the host") {
  const auto backend = open_backend("emulated", 0);
  DataConfig config;
  config.kind = DataKind::Doodles;
  config.doodles_per_class = 1;
  const Dataset dataset = load_dataset(config, 1);
  CHECK(ImageFeed(*backend, dataset, 2, 0).on_device());
  CHECK_FALSE(ImageFeed(*backend, dataset, 2, backend->free_bytes()).on_device());
}

}  // namespace
}  // namespace acgan
