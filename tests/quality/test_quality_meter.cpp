#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "backend/open_backend.h"
#include "base/error.h"
#include "quality/quality_meter.h"
#include "support/temporary_folder.h"

namespace acgan::test {
namespace {

DataConfig small_doodles() {
  DataConfig config;
  config.image_size = 16;
  config.doodles_per_class = 150;
  return config;
}

// Fakes that are doodles of a third seed: what a perfect generator would draw.
class Forger {
 public:
  Forger() : drawings_(load_dataset(small_doodles(), 77)) {}

  std::vector<std::uint8_t> operator()(std::span<const std::int32_t> labels) {
    std::vector<std::uint8_t> images;
    for (const std::int32_t label : labels) {
      auto number = static_cast<std::size_t>(label) * 150 + drawn_++ / 10 % 150;
      const auto first = drawings_.images.begin() + static_cast<std::ptrdiff_t>(number * 256);
      images.insert(images.end(), first, first + 256);
    }
    return images;
  }

 private:
  Dataset drawings_;
  std::size_t drawn_ = 0;
};

// One meter for all tests of this file: its net takes seconds to train.
struct MeterFixture {
  MeterFixture() {
    static const TemporaryFolder kept;
    backend = open_backend("auto", 0);
    options = {.samples = 600, .seed = 3, .cache_folder = kept / "cache"};
  }
  QualityMeter make() const {
    return QualityMeter(*backend, load_real_data(small_doodles(), 1), options);
  }

  std::unique_ptr<Backend> backend;
  QualityOptions options;
};

TEST_CASE_METHOD(MeterFixture, "a net that saw a few drawings knows new ones, good fakes pass") {
  QualityMeter meter = make();
  CHECK(meter.net_accuracy() > 0.9);
  CHECK(meter.real().held_out.count() == 1500);
  const QualityFigures good = meter.measure(Forger());
  CHECK(good.samples == 600);
  CHECK(good.references == 1500);
  CHECK(good.class_accuracy > 0.9);
  CHECK(good.accuracy_by_class.size() == 10);
  CHECK(good.precision > 0.8);
  CHECK(good.recall > 0.6);
  CHECK(good.diversity == Approx(1).margin(0.1));
  CHECK(std::abs(good.kernel_distance.mean) < 3 * good.kernel_distance.spread);
  const QualityFigures floor = meter.floor();
  CHECK(floor.samples == 600);
  CHECK(floor.class_accuracy > 0.95);

  // Noise is no drawing; one drawing a class is no distribution.
  std::uint32_t state = 1;
  const QualityFigures noise = meter.measure([&](std::span<const std::int32_t> labels) {
    std::vector<std::uint8_t> images(labels.size() * 256);
    for (std::uint8_t& pixel : images) {
      state = state * 1664525u + 1013904223u;
      pixel = static_cast<std::uint8_t>(state >> 24);
    }
    return images;
  });
  CHECK(noise.class_accuracy < 0.3);
  CHECK(noise.frechet_distance > 10 * good.frechet_distance);
  CHECK(noise.kernel_distance.mean > 10 * noise.kernel_distance.spread);
  CHECK(noise.precision < 0.1);
  const Dataset& train = meter.real().train;
  const QualityFigures collapsed = meter.measure([&](std::span<const std::int32_t> labels) {
    std::vector<std::uint8_t> images;
    for (const std::int32_t label : labels) {
      const auto first = train.images.begin() + std::ptrdiff_t{150 * 256} * label;
      images.insert(images.end(), first, first + 256);
    }
    return images;
  });
  CHECK(collapsed.class_accuracy == 1.0);
  CHECK(collapsed.diversity == 0.0);
  CHECK(collapsed.recall < 0.1);
}

TEST_CASE_METHOD(MeterFixture,
                 "figures repeat, and the net comes from the cache or is trained again") {
  const QualityFigures first = make().measure(Forger());
  QualityMeter again = make();
  CHECK(again.net_origin().from_cache);
  CHECK(again.net_origin().problem.empty());
  CHECK(again.measure(Forger()).frechet_distance == first.frechet_distance);

  // A broken file is found out and replaced.
  const std::string file = again.net_origin().file;
  std::string bytes = read_text(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_text(file, bytes);
  const QualityMeter mended = make();
  CHECK_FALSE(mended.net_origin().from_cache);
  CHECK(mended.net_origin().problem.find(file) != std::string::npos);
  CHECK(mended.net_id() == again.net_id());  // the same bits from the same data
  CHECK(make().net_origin().from_cache);

  // Another net's file under this name is no net for this data.
  Checkpoint other = Checkpoint::load(file);
  other.set_text("format", "acgan-train feature net 1 of data 0");
  other.save(file);
  CHECK_FALSE(make().net_origin().from_cache);

  // A cache that cannot be written is no error.
  options.cache_folder = file + "/below_a_file";
  const QualityMeter without = make();
  CHECK_FALSE(without.net_origin().problem.empty());
  CHECK(without.net_origin().file.empty());
  CHECK(without.net_id() == again.net_id());
}

TEST_CASE_METHOD(MeterFixture, "images without labels have no class figures") {
  QualityMeter meter = make();
  const Dataset& held_out = meter.real().held_out;
  const QualityFigures figures = meter.measure_images(held_out.images, {});
  CHECK_FALSE(figures.class_accuracy.has_value());
  CHECK_FALSE(figures.diversity.has_value());
  CHECK(std::abs(figures.frechet_distance) < 1e-6);  // they are the references
  CHECK(figures.precision == 1);
  CHECK(figures.recall == 1);
  const auto few = std::span(held_out.images).first(3 * 256);
  CHECK_THROWS_WITH(meter.measure_images(few, {}), Catch::Contains("there are 3 images to judge"));
}

TEST_CASE("a share of each class is held out, by its number in its class alone") {
  Dataset dataset{.height = 1,
                  .width = 1,
                  .channels = 1,
                  .class_names = {"a", "b"},
                  .images = {},
                  .labels = {},
                  .description = "made"};
  for (int i = 0; i < 40; ++i) {  // a: even numbers, b: odd ones
    dataset.images.push_back(static_cast<std::uint8_t>(i));
    dataset.labels.push_back(i % 2);
  }
  const DatasetParts parts = hold_out(dataset, 0.25);
  CHECK(parts.held_out.counts_by_class() == std::vector<std::int64_t>{5, 5});
  CHECK(parts.kept.counts_by_class() == std::vector<std::int64_t>{15, 15});
  std::vector<std::uint8_t> all = parts.kept.images;
  all.insert(all.end(), parts.held_out.images.begin(), parts.held_out.images.end());
  std::sort(all.begin(), all.end());
  CHECK(all == dataset.images);
  // Fewer images give the beginning of the same choice.
  dataset.images.resize(20);
  dataset.labels.resize(20);
  const auto fewer = hold_out(dataset, 0.25).held_out.images;
  CHECK(std::equal(fewer.begin(), fewer.end(), parts.held_out.images.begin()));
}

TEST_CASE("held-out doodles are fresh ones") {
  const RealData data = load_real_data(small_doodles(), 1);
  CHECK_FALSE(data.generator_saw_held_out);
  CHECK(data.fingerprint == fingerprint_of(load_dataset(small_doodles(), 1)));
  CHECK(fingerprint_of(data.train) == data.fingerprint);
  CHECK(data.held_out.images != data.train.images);
}

}  // namespace
}  // namespace acgan::test
