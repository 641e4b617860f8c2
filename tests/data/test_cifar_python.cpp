#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "data/cifar.h"
#include "data/cifar_pickle.h"
#include "data/data_files.h"
#include "data/tar_files.h"
#include "support/shared_dir.h"

namespace acgan {
namespace {

using Catch::Contains;
using test::Bytes;
using test::cifar_pickle;
using test::error_of;
using test::PickleStyle;
using test::PickleWriter;
using test::TemporaryFolder;

constexpr std::size_t kImage = 3072;

DataConfig config_of(const std::string& path, DataKind kind = DataKind::Cifar10) {
  DataConfig config;
  config.kind = kind;
  config.path = path;
  config.image_size = 32;
  return config;
}

std::string error_with(const Bytes& batch) {
  TemporaryFolder folder;
  folder.write("data_batch_1", batch);
  return error_of(ErrorKind::Data, [&] { load_dataset(config_of(folder.path()), 1); });
}

Bytes file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("the python version of CIFAR-10 holds the same images as the binary one") {
  const Bytes first = test::pattern(kImage, 1), second = test::pattern(kImage, 2);
  TemporaryFolder binary;
  binary.write("data_batch_1.bin", test::concatenated({{3}, first, {9}, second}));
  const Dataset expected = load_dataset(config_of(binary.path()), 1);
  for (const PickleStyle style : {PickleStyle::Python2Protocol0, PickleStyle::Python2Protocol2,
                                  PickleStyle::Python3Protocol2, PickleStyle::Python3Protocol4}) {
    const Bytes batch = cifar_pickle(style, "labels", {3, 9}, test::concatenated({first, second}));
    TemporaryFolder folder;
    folder.write("cifar-10-batches-py/data_batch_1", batch);
    folder.write("cifar-10-batches-py/test_batch", cifar_pickle(style, "labels", {4}, first));
    const Dataset dataset = load_dataset(config_of(folder.path()), 1);
    CHECK(dataset.labels == expected.labels);
    CHECK(dataset.images == expected.images);
    CHECK_THAT(dataset.description, Contains("cifar10, python version, train part, 1 file in"));
    CHECK(load_cifar10(config_of(folder.path()), CifarPart::Test).labels ==
          std::vector<std::int32_t>{4});

    folder.write("x/cifar-10-python.tar.gz",
                 test::gzipped(test::tar({{"cifar-10-batches-py/data_batch_1", batch}})));
    CHECK(load_dataset(config_of(folder.path() + "/x"), 1).images == expected.images);
  }
}

TEST_CASE("a pickled batch in column order is turned") {
  const Bytes rows = test::pattern(2 * kImage, 5);
  Bytes columns;
  for (std::size_t i = 0; i < kImage; ++i) {
    columns.push_back(rows[i]);
    columns.push_back(rows[kImage + i]);
  }
  TemporaryFolder folder;
  PickleWriter writer(PickleStyle::Python2Protocol2);
  writer.begin_dict().text("labels").integers({1, 2}).text("data").array(2, kImage, columns, true);
  folder.write("data_batch_1", writer.end_dict());
  TemporaryFolder plain;
  plain.write("data_batch_1", cifar_pickle(PickleStyle::Python2Protocol2, "labels", {1, 2}, rows));
  CHECK(load_dataset(config_of(folder.path()), 1).images ==
        load_dataset(config_of(plain.path()), 1).images);
}

TEST_CASE("batches.meta names the classes of the python version") {
  const PickleStyle style = PickleStyle::Python2Protocol2;
  TemporaryFolder folder;
  folder.write("data_batch_1", cifar_pickle(style, "labels", {1}, Bytes(kImage, 7)));
  const auto write_names = [&](const std::vector<std::string>& names) {
    PickleWriter writer(style);
    writer.begin_dict().text("num_vis").integer(3072).text("label_names").texts(names);
    folder.write("batches.meta", writer.end_dict());
  };
  write_names({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j j"});
  CHECK(load_dataset(config_of(folder.path()), 1).class_names[9] == "j j");
  write_names({"a", "b"});
  CHECK_THAT(error_of(ErrorKind::Data, [&] { load_dataset(config_of(folder.path()), 1); }),
             Contains("batches.meta") && Contains("10 different classes"));
}

TEST_CASE("CIFAR-100's python version has both labels and both names in pickles") {
  const PickleStyle style = PickleStyle::Python2Protocol2;
  PickleWriter train(style), meta(style);
  train.begin_dict().text("filenames").texts({"x"});
  train.text("fine_labels").integers({99, 3}).text("coarse_labels").integers({19, 0});
  train.text("data").array(2, kImage, test::pattern(2 * kImage, 1));
  std::vector<std::string> fine, coarse;
  for (int i = 0; i < 100; ++i) fine.push_back(fmt::format("fine{}", i));
  for (int i = 0; i < 20; ++i) coarse.push_back(fmt::format("coarse{}", i));
  meta.begin_dict().text("fine_label_names").texts(fine).text("coarse_label_names").texts(coarse);
  const Bytes train_bytes = train.end_dict(), meta_bytes = meta.end_dict();
  TemporaryFolder folder;
  folder.write("cifar-100-python/train", train_bytes);
  folder.write("cifar-100-python/meta", meta_bytes);
  folder.write("x/cifar-100-python.tar.gz",
               test::gzipped(test::tar({{"cifar-100-python/train", train_bytes},
                                        {"cifar-100-python/meta", meta_bytes}})));
  for (const std::string& path : {folder.path(), folder.path() + "/x"}) {
    DataConfig config = config_of(path, DataKind::Cifar100);
    CHECK(load_dataset(config, 1).labels == std::vector<std::int32_t>{99, 3});
    config.labels = Cifar100Labels::Coarse;
    const Dataset dataset = load_dataset(config, 1);
    CHECK(dataset.labels == std::vector<std::int32_t>{19, 0});
    CHECK(dataset.class_names[19] == "coarse19");
  }
  CHECK_THAT(error_of(ErrorKind::Data,
                      [&] { load_dataset(config_of(folder.path() + "/cifar-100-python"), 1); }),
             Contains("holds CIFAR-100, not CIFAR-10"));
  CHECK_THAT(error_with(train_bytes),
             Contains("data_batch_1' is a batch of CIFAR-100") && Contains("cifar100"));
}

TEST_CASE("pickled batches that are not what they should be are errors") {
  const PickleStyle style = PickleStyle::Python2Protocol2;
  CHECK_THAT(error_with(cifar_pickle(style, "labels", {1, 10}, Bytes(2 * kImage, 0))),
             Contains("data_batch_1") && Contains("label 10 in record 1"));
  CHECK_THAT(error_with(cifar_pickle(style, "labels", {-1}, Bytes(kImage, 0))),
             Contains("label -1 in record 0"));
  CHECK_THAT(error_with(cifar_pickle(style, "labels", {}, {})), Contains("shape (0, 3072)"));
  CHECK_THAT(error_with(cifar_pickle(style, "lables", {1}, Bytes(kImage, 0))),
             Contains("no key 'labels'") && Contains("lables"));
  PickleWriter writer(style);
  writer.begin_dict().text("labels").integers({1, 2}).text("data").array(1, kImage,
                                                                         Bytes(kImage, 0));
  CHECK_THAT(error_with(writer.end_dict()), Contains("shape (1, 3072) and 2 labels"));
  Bytes cut = cifar_pickle(style, "labels", {1}, Bytes(kImage, 0));
  cut.resize(1000);
  CHECK_THAT(error_with(cut), Contains("data_batch_1' is no pickled batch of CIFAR"));
  CHECK_THAT(error_with({}), Contains("data_batch_1"));
}

TEST_CASE("the real python versions hold the real binary version", "[shared]") {
  const auto data = test::shared_dir() / "data";
  const Dataset binary = load_dataset(config_of((data / "cifar-10-batches-bin").string()), 1);
  constexpr std::size_t kBatch = 1200;  // records of a binary file
  for (const auto& [name, records] :
       {std::pair("cifar-10-batches-py", std::size_t{200}), {"cifar-10-batches-py3", 50}}) {
    const Dataset python = load_dataset(config_of((data / name).string()), 1);
    CHECK(python.class_names == binary.class_names);
    REQUIRE(python.count() == static_cast<std::int64_t>(5 * records));
    for (std::size_t file = 0; file < 5; ++file) {
      const auto images = [&](const Dataset& dataset, std::size_t first) {
        const auto begin = dataset.images.begin() + static_cast<long>(first * kImage);
        return Bytes(begin, begin + static_cast<long>(records * kImage));
      };
      CHECK(images(python, file * records) == images(binary, file * kBatch));
      CHECK(std::equal(python.labels.begin() + static_cast<long>(file * records),
                       python.labels.begin() + static_cast<long>((file + 1) * records),
                       binary.labels.begin() + static_cast<long>(file * kBatch)));
    }
    CHECK(load_cifar10(config_of((data / name).string()), CifarPart::Test).count() ==
          static_cast<std::int64_t>(records));
  }
}

TEST_CASE("real pickles in an archive, and cut anywhere", "[shared]") {
  const auto folder_of_pickles = test::shared_dir() / "data" / "cifar-10-batches-py3";
  const Bytes batch = file_bytes(folder_of_pickles / "data_batch_1");
  TemporaryFolder folder;
  folder.write("cifar-10-python.tar.gz",
               test::gzipped(test::tar({{"cifar-10-batches-py/data_batch_1", batch},
                                        {"cifar-10-batches-py/batches.meta",
                                         file_bytes(folder_of_pickles / "batches.meta")}})));
  CHECK(load_dataset(config_of(folder.path()), 1).count() == 50);
  for (std::size_t i = 0; i < batch.size(); i += i < 2000 ? 11 : 4999) {
    CHECK_THAT(error_with(Bytes(batch.begin(), batch.begin() + static_cast<long>(i))),
               Contains("data_batch_1"));
  }
}

}  // namespace acgan
