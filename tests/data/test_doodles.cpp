#include "data/doodles.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <span>

#include "base/error.h"
#include "data/data_files.h"

namespace acgan {
namespace {

using Catch::Contains;

DataConfig config_of(std::int64_t per_class, std::int64_t image_size = 28) {
  DataConfig config;
  config.kind = DataKind::Doodles;
  config.doodles_per_class = per_class;
  config.image_size = image_size;
  return config;
}

test::Bytes image_of(const Dataset& dataset, std::int64_t index) {
  const std::int64_t bytes = dataset.height * dataset.width;
  return {dataset.images.begin() + index * bytes, dataset.images.begin() + (index + 1) * bytes};
}

// A drawing at 7x7 pixels, where small differences of place do not matter.
std::vector<double> coarse(std::span<const std::uint8_t> image) {
  std::vector<double> blocks(49, 0);
  for (std::size_t i = 0; i < 784; ++i) blocks[i / 28 / 4 * 7 + i % 28 / 4] += image[i] / 16.0;
  return blocks;
}

}  // namespace

TEST_CASE("the doodles are ten classes of white drawings on black") {
  const Dataset dataset = load_doodles(config_of(31), 5);
  CHECK(dataset.class_names.size() == 10);
  CHECK(std::is_sorted(dataset.class_names.begin(), dataset.class_names.end()));
  CHECK(dataset.counts_by_class() == std::vector<std::int64_t>(10, 31));
  CHECK(dataset.channels == 1);
  REQUIRE(dataset.images.size() == std::size_t{310} * 784);
  for (std::int64_t i = 0; i < dataset.count(); ++i) {
    const test::Bytes image = image_of(dataset, i);
    const auto black = std::count(image.begin(), image.end(), 0);
    const auto bright = std::count_if(image.begin(), image.end(), [](int v) { return v > 200; });
    CHECK(black > 350);  // line drawings leave most of the paper free
    CHECK(bright > 20);
    for (std::size_t k = 0; k < 28; ++k) {  // and the rim as well
      CHECK((image[k] | image[783 - k] | image[28 * k] | image[28 * k + 27]) == 0);
    }
  }
}

TEST_CASE("no two doodles are equal") {
  const Dataset dataset = load_doodles(config_of(200), 1);
  std::set<std::string> images;
  for (std::int64_t i = 0; i < dataset.count(); ++i) {
    const test::Bytes image = image_of(dataset, i);
    images.emplace(image.begin(), image.end());
  }
  CHECK(images.size() == 2000);
}

TEST_CASE("a doodle depends on seed, class and number only") {
  const Dataset dataset = load_doodles(config_of(7), 3);
  CHECK(load_doodles(config_of(7), 3).images == dataset.images);
  CHECK(load_doodles(config_of(7), 4).images != dataset.images);
  CHECK(load_doodles(config_of(7), 3 + (std::uint64_t{1} << 32)).images != dataset.images);

  DataConfig config = config_of(2000);
  config.classes = {"sun", "boat"};
  config.limit_per_class = 3;
  const Dataset few = load_doodles(config, 3);
  CHECK(few.class_names == config.classes);
  CHECK(few.labels == std::vector<std::int32_t>{0, 0, 0, 1, 1, 1});
  CHECK(image_of(few, 2) == image_of(dataset, 8 * 7 + 2));
  CHECK(image_of(few, 3) == image_of(dataset, 0));

  config.classes = {"sunn"};
  CHECK_THAT(test::error_of(ErrorKind::Data, [&] { load_doodles(config, 3); }),
             Contains("'sunn'") && Contains("did you mean 'sun'") && Contains("boat, clock"));
}

TEST_CASE("doodles scale with the image") {
  for (const std::int64_t size : {4, 12, 32, 100}) {
    const Dataset dataset = load_doodles(config_of(3, size), 1);
    CHECK(dataset.height == size);
    REQUIRE(dataset.images.size() == static_cast<std::size_t>(30 * size * size));
    CHECK(*std::max_element(dataset.images.begin(), dataset.images.end()) > 100);
  }
  // The same drawing covers the same share of paper at any size.
  const auto ink = [](std::int64_t size) {
    const Dataset dataset = load_doodles(config_of(5, size), 1);
    double sum = 0;
    for (const std::uint8_t value : dataset.images) sum += value;
    return sum / static_cast<double>(dataset.images.size());
  };
  CHECK(ink(96) == Approx(ink(28)).epsilon(0.1));
}

TEST_CASE("doodles of different classes can be told apart") {
  // Nearest of 300 drawings, seen at 7x7: far better than the 10 % of guessing, though blind to
  // most of what makes a class.
  const Dataset known = load_doodles(config_of(300), 1), asked = load_doodles(config_of(20), 2);
  std::vector<std::vector<double>> gallery;
  for (std::int64_t i = 0; i < known.count(); ++i) gallery.push_back(coarse(image_of(known, i)));
  int right = 0;
  for (std::int64_t i = 0; i < asked.count(); ++i) {
    const std::vector<double> image = coarse(image_of(asked, i));
    const auto distance = [&](const std::vector<double>& other) {
      double sum = 0;
      for (std::size_t k = 0; k < 49; ++k) sum += (image[k] - other[k]) * (image[k] - other[k]);
      return sum;
    };
    const auto nearest =
        std::min_element(gallery.begin(), gallery.end(),
                         [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    const auto index = static_cast<std::size_t>(nearest - gallery.begin());
    right += known.labels[index] == asked.labels[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  CHECK(right >= 160);
}

TEST_CASE("grey doodles can be had as RGB") {
  DataConfig config = config_of(2, 12);
  const Dataset grey = load_dataset(config, 1);
  config.channels = 3;
  const Dataset color = load_dataset(config, 1);
  CHECK(color.channels == 3);
  REQUIRE(color.images.size() == 3 * grey.images.size());
  for (std::size_t i = 0; i < color.images.size(); ++i) {
    REQUIRE(color.images[i] == grey.images[i / 3]);
  }
}

}  // namespace acgan
