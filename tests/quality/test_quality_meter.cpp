#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "backend/open_backend.h"
#include "base/error.h"
#include "quality/quality_meter.h"
#include "run/sample_grid.h"
#include "support/shared_dir.h"
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
      auto number = static_cast<std::size_t>(label) * 150 + drawn_++ % 150;
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
  const QualityFigures good = meter.measure(Forger());
  CHECK(good.samples == 600);
  CHECK(good.references == 1500);
  CHECK(good.class_accuracy > 0.9);
  CHECK(good.accuracy_by_class.size() == 10);
  CHECK(good.precision > 0.8);
  CHECK(good.recall > 0.6);
  CHECK(good.diversity == Approx(1).margin(0.1));
  CHECK(std::abs(good.kernel_distance.mean) < 3 * good.kernel_distance.spread);
  const QualityFigures& floor = meter.floor();
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
  const Dataset train = load_dataset(small_doodles(), 1);
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

TEST_CASE_METHOD(MeterFixture, "figures repeat with a net from the cache") {
  const QualityFigures first = make().measure(Forger());
  QualityMeter again = make();
  CHECK(again.net().origin.from_cache);
  CHECK(again.net().origin.problem.empty());
  CHECK(again.measure(Forger()).frechet_distance == first.frechet_distance);
  options.seed = 4;
  CHECK(make().measure(Forger()).kernel_distance.mean != first.kernel_distance.mean);
}

TEST_CASE("a feature net is kept, checked, and trained again to the same bits where it is broken") {
  const TemporaryFolder folder;
  const auto backend = open_backend("auto", 0);
  DataConfig config;
  config.image_size = 8;
  config.doodles_per_class = 10;
  config.classes = {"fish", "house"};
  const Dataset data = load_dataset(config, 1);
  std::string id;
  const auto load = [&](const std::string& cache) {
    FeatureNet net(*backend, {.image_size = 8, .channels = 1, .classes = 2});
    const FeatureNetOrigin origin = load_or_train(net, data, cache);
    if (id.empty()) id = net.id();
    CHECK(net.id() == id);
    return origin;
  };
  const std::string cache = folder / "new/cache";
  const FeatureNetOrigin first = load(cache);
  CHECK_FALSE(first.from_cache);
  CHECK(first.problem.empty());
  CHECK(load(cache).from_cache);
  CHECK(load(cache).file == first.file);

  std::string bytes = read_text(first.file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_text(first.file, bytes);
  const FeatureNetOrigin mended = load(cache);
  CHECK_FALSE(mended.from_cache);
  CHECK(mended.problem.find(first.file) != std::string::npos);
  CHECK(load(cache).from_cache);

  // Another net's file under this name is no net for this data.
  Checkpoint other = Checkpoint::load(first.file);
  other.set_text("format", "acgan-train feature net 1 of data 0");
  other.save(first.file);
  CHECK_FALSE(load(cache).from_cache);

  // A cache that cannot be written is no error; an empty name asks for none.
  const FeatureNetOrigin unwritable = load(first.file + "/below_a_file");
  CHECK_FALSE(unwritable.problem.empty());
  CHECK(unwritable.file.empty());
  CHECK(load("").problem.empty());
}

TEST_CASE("every backend gives the same features, our CUDA kernels as well") {
  DataConfig config;
  config.image_size = 8;
  config.doodles_per_class = 3;
  const Dataset data = load_dataset(config, 1);
  const auto features = [&](const char* device) {
    const auto backend = open_backend(device, 0);
    FeatureNet net(*backend, {.image_size = 8, .channels = 1, .classes = 10});  // random weights
    return net.extract(data.images, data.labels);
  };
  const FeatureSet expected = features("host");
  CHECK(expected.count() == 30);
  for (const char* device : {"packed", "emulated"}) {
    CAPTURE(device);
    const FeatureSet found = features(device);
    REQUIRE(found.values.size() == expected.values.size());
    for (std::size_t i = 0; i < found.values.size(); ++i) {
      CHECK(found.values[i] == Approx(expected.values[i]).epsilon(1e-4).margin(1e-6));
    }
  }
}

TEST_CASE("fakes are asked for with the classes' shares among the held-out images") {
  DataConfig config;
  config.image_size = 8;
  config.doodles_per_class = 10;
  config.classes = {"fish", "house", "cup"};
  RealData real = load_real_data(config, 1);
  real.held_out.images.resize(16 * 64);  // 10 fish, 6 houses, no cup
  real.held_out.labels.resize(16);
  const auto backend = open_backend("auto", 0);
  QualityMeter meter(*backend, real, {.samples = 32, .cache_folder = ""});
  std::vector<std::int64_t> counts(3);
  const QualityFigures figures = meter.measure([&](std::span<const std::int32_t> labels) {
    for (const std::int32_t label : labels) ++counts[static_cast<std::size_t>(label)];
    return std::vector<std::uint8_t>(labels.size() * 64);
  });
  CHECK(counts == std::vector<std::int64_t>{20, 12, 0});
  CHECK(figures.samples == 32);
  CHECK_FALSE(figures.accuracy_by_class[2].has_value());
  CHECK(meter.floor().samples == 10 + 10);  // all that the training part has of these
}

TEST_CASE_METHOD(MeterFixture, "images without labels have no class figures") {
  QualityMeter meter = make();
  const Dataset held_out = load_real_data(small_doodles(), 1).held_out;
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
  Dataset kept = dataset;
  const Dataset held_out = hold_out(kept, 0.25);
  CHECK(held_out.counts_by_class() == std::vector<std::int64_t>{5, 5});
  CHECK(kept.counts_by_class() == std::vector<std::int64_t>{15, 15});
  std::vector<std::uint8_t> all = kept.images;
  all.insert(all.end(), held_out.images.begin(), held_out.images.end());
  std::sort(all.begin(), all.end());
  CHECK(all == dataset.images);
  for (std::size_t i = 0; i < kept.labels.size(); ++i) {
    CHECK(kept.images[i] % 2 == kept.labels[i]);
  }
  // Fewer images give the beginning of the same choice.
  dataset.images.resize(20);
  dataset.labels.resize(20);
  const auto fewer = hold_out(dataset, 0.25).images;
  CHECK(std::equal(fewer.begin(), fewer.end(), held_out.images.begin()));
}

TEST_CASE("real data sets hold out what nobody trains on", "[shared]") {
  DataConfig cifar;
  cifar.kind = DataKind::Cifar10;
  cifar.image_size = 32;
  cifar.path = (shared_dir() / "data/cifar-10-batches-bin").string();
  cifar.limit_per_class = 20;
  const RealData pictures = load_real_data(cifar, 1);
  CHECK_FALSE(pictures.generator_saw_held_out);
  CHECK(pictures.fingerprint == fingerprint_of(load_dataset(cifar, 1)));
  CHECK(pictures.held_out.description.find("test part") != std::string::npos);
  CHECK(pictures.held_out.class_names == pictures.train.class_names);

  DataConfig drawings;
  drawings.kind = DataKind::QuickDraw;
  drawings.path = (shared_dir() / "data/quickdraw").string();
  drawings.limit_per_class = 50;
  const RealData seen = load_real_data(drawings, 1);
  CHECK(seen.generator_saw_held_out);
  CHECK(seen.fingerprint == fingerprint_of(load_dataset(drawings, 1)));
  drawings.held_out = 0.2;
  const RealData unseen = load_real_data(drawings, 1);
  CHECK_FALSE(unseen.generator_saw_held_out);
  CHECK(unseen.held_out.counts_by_class() == std::vector<std::int64_t>(10, 10));
  CHECK(unseen.train.images == load_dataset(drawings, 1).images);
  CHECK(unseen.fingerprint != seen.fingerprint);
}

TEST_CASE("a class with too few images to hold one out is named") {
  TemporaryFolder folder;
  const Picture picture{
      .height = 8, .width = 8, .channels = 3, .pixels = std::vector<std::uint8_t>(192)};
  for (const char* name : {"many", "few"}) {
    std::filesystem::create_directory(folder / name);
    for (int i = 0; i < (name == std::string("few") ? 2 : 9); ++i) {
      write_png(folder / fmt::format("{}/{}.png", name, i), picture);
    }
  }
  DataConfig config;
  config.kind = DataKind::Folder;
  config.path = folder.path();
  config.image_size = 8;
  CHECK_THROWS_WITH(load_real_data(config, 1), Catch::StartsWith("class 'few' of the data set"));
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
