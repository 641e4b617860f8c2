#include "data/mnist.h"

#include <catch2/catch.hpp>

#include "data/data_files.h"
#include "data/tar_files.h"

namespace acgan {
namespace {

using Catch::Contains;
using test::Bytes;
using test::error_of;
using test::TemporaryFolder;

constexpr const char* kImages = "train-images-idx3-ubyte";
constexpr const char* kLabels = "train-labels-idx1-ubyte";

Bytes idx(const std::vector<std::uint32_t>& shape, const Bytes& data) {
  Bytes bytes = {0, 0, 8, static_cast<std::uint8_t>(shape.size())};
  for (const std::uint32_t extent : shape) {
    for (const int shift : {24, 16, 8, 0}) {
      bytes.push_back(static_cast<std::uint8_t>(extent >> shift));
    }
  }
  return test::concatenated({bytes, data});
}

DataConfig config_of(const std::string& path, std::int64_t image_size = 28,
                     DataKind kind = DataKind::Mnist) {
  DataConfig config;
  config.kind = kind;
  config.path = path;
  config.image_size = image_size;
  return config;
}

std::string error_with(const Bytes& images, const Bytes& labels, DataKind kind = DataKind::Mnist) {
  TemporaryFolder folder;
  folder.write(kImages, images);
  folder.write(kLabels, labels);
  return error_of(ErrorKind::Data, [&] { load_dataset(config_of(folder.path(), 28, kind), 1); });
}

const Bytes kThreeImages = test::pattern(std::size_t{3} * 784, 1);

}  // namespace

TEST_CASE("MNIST loads with either spelling, plain or gzipped, train and test apart") {
  const Bytes images = idx({3, 28, 28}, kThreeImages), labels = idx({3}, {7, 0, 9});
  for (const std::string separator : {"-", "."}) {
    for (const bool is_packed : {false, true}) {
      TemporaryFolder folder;
      const auto write = [&](const std::string& stem, int dimensions, const Bytes& bytes) {
        const std::string name =
            fmt::format("{}{}idx{}-ubyte{}", stem, separator, dimensions, is_packed ? ".gz" : "");
        folder.write(name, is_packed ? test::gzipped(bytes) : bytes);
      };
      write("train-images", 3, images);
      write("train-labels", 1, labels);
      write("t10k-images", 3, idx({1, 28, 28}, Bytes(784, 4)));
      write("t10k-labels", 1, idx({1}, {5}));
      const Dataset train = load_dataset(config_of(folder.path()), 1);
      CHECK(train.labels == std::vector<std::int32_t>{7, 0, 9});
      CHECK(train.images == kThreeImages);
      CHECK(train.channels == 1);
      CHECK(train.class_names ==
            std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
      CHECK(train.description == "mnist train part, images of 28x28 in " + folder.path());
      const Dataset held_out = load_mnist(config_of(folder.path()), MnistPart::Test);
      CHECK(held_out.labels == std::vector<std::int32_t>{5});
      CHECK(held_out.images == Bytes(784, 4));
    }
  }
}

TEST_CASE("at 32 pixels MNIST gets a black margin, at others it is resized") {
  TemporaryFolder folder;
  folder.write(kImages, idx({1, 28, 28}, Bytes(784, 200)));
  folder.write(kLabels, idx({1}, {3}));
  const Dataset padded = load_dataset(config_of(folder.path(), 32), 1);
  for (std::size_t y = 0; y < 32; ++y) {
    for (std::size_t x = 0; x < 32; ++x) {
      const bool is_inside = y >= 2 && y < 30 && x >= 2 && x < 30;
      REQUIRE(padded.images[y * 32 + x] == (is_inside ? 200 : 0));
    }
  }
  CHECK(load_dataset(config_of(folder.path(), 16), 1).images == Bytes(256, 200));
  CHECK(load_dataset(config_of(folder.path(), 64), 1).images == Bytes(4096, 200));
}

TEST_CASE("IDX pairs of another size load as well") {
  TemporaryFolder folder;
  Bytes wide(std::size_t{2} * 8 * 12, 50);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (i % 12 < 2 || i % 12 >= 10) wide[i] = 255;  // outside the centred square
  }
  folder.write(kImages, idx({2, 8, 12}, wide));
  folder.write(kLabels, idx({2}, {1, 26}));
  const Dataset dataset = load_dataset(config_of(folder.path(), 8), 1);
  CHECK(dataset.images == Bytes(128, 50));
  CHECK(dataset.class_names.size() == 27);
  CHECK(dataset.labels == std::vector<std::int32_t>{1, 26});
  CHECK_THAT(dataset.description, Contains("12x8"));
}

TEST_CASE("classes and limits choose among MNIST's images; Fashion-MNIST has names") {
  TemporaryFolder folder;
  folder.write(kImages, idx({3, 28, 28}, kThreeImages));
  folder.write(kLabels, idx({3}, {9, 1, 9}));
  DataConfig config = config_of(folder.path(), 28, DataKind::FashionMnist);
  CHECK(load_dataset(config, 1).class_names[9] == "Ankle boot");
  config.classes = {"Ankle boot"};
  config.limit_per_class = 1;
  const Dataset boots = load_dataset(config, 1);
  CHECK(boots.labels == std::vector<std::int32_t>{0});
  CHECK(boots.images == Bytes(kThreeImages.begin(), kThreeImages.begin() + 784));
  config.classes = {"Ankle boots"};
  CHECK_THAT(error_of(ErrorKind::Data, [&] { load_dataset(config, 1); }),
             Contains("did you mean 'Ankle boot'"));
  CHECK_THAT(error_with(idx({1, 28, 28}, Bytes(784, 1)), idx({1}, {10}), DataKind::FashionMnist),
             Contains("label 10") && Contains("mnist"));
}

TEST_CASE("IDX files that are not what they claim are errors") {
  const Bytes images = idx({3, 28, 28}, kThreeImages), labels = idx({3}, {7, 0, 9});
  const auto cut = [](Bytes bytes, std::size_t size) {
    bytes.resize(size, 0);
    return bytes;
  };
  CHECK_THAT(error_with(cut(images, 2000), labels), Contains(kImages) && Contains("truncated") &&
                                                        Contains("(3, 28, 28)") &&
                                                        Contains("2352") && Contains("1984"));
  CHECK_THAT(error_with(cut(images, 2369), labels), Contains("more than the 2352 bytes"));
  CHECK_THAT(error_with(cut(images, 9), labels), Contains("ends in its header"));
  CHECK_THAT(error_with({}, labels), Contains("ends in its header"));
  CHECK_THAT(error_with(labels, labels), Contains(kImages) && Contains("00 00 08 03"));
  CHECK_THAT(error_with(images, images), Contains(kLabels) && Contains("00 00 08 01"));
  CHECK_THAT(error_with(images, idx({2}, {7, 0})),
             Contains("3 images") && Contains("2 labels") && Contains("do not belong together"));
  CHECK_THAT(error_with(idx({0, 28, 28}, {}), idx({0}, {})), Contains("(0, 28, 28)"));
  CHECK_THAT(error_with(idx({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, {}), labels),
             Contains("4294967295, 4294967295, 4294967295"));
  CHECK_THAT(error_with(idx({1u << 30, 1u << 30, 1}, {}), labels), Contains("1073741824"));
  CHECK_THAT(error_with(idx({1000000, 28, 28}, kThreeImages), labels), Contains("truncated"));
  const Bytes bomb = test::gzipped(idx({1, 28, 28}, Bytes(5000000, 0)));
  CHECK(bomb.size() < 10000);
  CHECK_THAT(error_with(bomb, labels), Contains("more than the 784 bytes"));
  CHECK_THAT(error_with(cut(test::gzipped(images), 100), labels), Contains("truncated"));
}

TEST_CASE("a folder without MNIST in it is told in a sentence") {
  TemporaryFolder folder;
  const auto error = [&](const std::string& path) {
    return error_of(ErrorKind::Data, [&] { load_dataset(config_of(path), 1); });
  };
  CHECK_THAT(error(folder.path()), Contains(folder.path()) && Contains("no train-images-idx3"));
  CHECK_THAT(error(folder.path() + "/x"), Contains("does not exist"));
  folder.write(kImages, idx({1, 28, 28}, Bytes(784, 1)));
  CHECK_THAT(error(folder.path()), Contains("no train-labels-idx1-ubyte"));
  folder.make_link(kLabels, "gone");
  CHECK_THAT(error(folder.path()), Contains("is a link to 'gone'"));
}

}  // namespace acgan
