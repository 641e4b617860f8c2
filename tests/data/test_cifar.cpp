#include "data/cifar.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "data/data_files.h"
#include "data/tar_files.h"
#include "support/shared_dir.h"

namespace acgan {
namespace {

using Catch::Contains;
using test::Bytes;
using test::error_of;
using test::TemporaryFolder;

constexpr std::size_t kRecordBytes = 3073;

DataConfig config_of(const std::string& path) {
  DataConfig config;
  config.kind = DataKind::Cifar10;
  config.path = path;
  config.image_size = 32;
  return config;
}

// Records with these labels; pixels follow a pattern that differs from record to record.
Bytes records(std::initializer_list<int> labels, int salt = 0) {
  Bytes bytes;
  for (const int label : labels) {
    bytes.push_back(static_cast<std::uint8_t>(label));
    const Bytes planes = test::pattern(kRecordBytes - 1, ++salt);
    bytes.insert(bytes.end(), planes.begin(), planes.end());
  }
  return bytes;
}

std::string error_with(const Bytes& bytes) {
  TemporaryFolder folder;
  folder.write("data_batch_1.bin", bytes);
  return error_of(ErrorKind::Data,
                  [&] { load_cifar10(config_of(folder.path()), CifarPart::Train); });
}

std::string error_at(const std::string& path, CifarPart part = CifarPart::Train) {
  return error_of(ErrorKind::Data, [&] { load_cifar10(config_of(path), part); });
}

}  // namespace

TEST_CASE("the colour planes of a CIFAR-10 record become pixels") {
  TemporaryFolder folder;
  folder.write("data_batch_1.bin", records({9, 0}));
  const Dataset dataset = load_cifar10(config_of(folder.path()), CifarPart::Train);
  CHECK(dataset.height == 32);
  CHECK(dataset.width == 32);
  CHECK(dataset.channels == 3);
  CHECK(dataset.labels == std::vector<std::int32_t>{9, 0});
  CHECK(dataset.class_names == std::vector<std::string>{"airplane", "automobile", "bird", "cat",
                                                        "deer", "dog", "frog", "horse", "ship",
                                                        "truck"});
  REQUIRE(dataset.images.size() == 2 * (kRecordBytes - 1));
  for (std::size_t n = 0; n < 2; ++n) {
    const Bytes planes = test::pattern(kRecordBytes - 1, static_cast<int>(n) + 1);
    for (std::size_t i = 0; i < kRecordBytes - 1; ++i) {
      REQUIRE(dataset.images[n * 3072 + i] == planes[i % 3 * 1024 + i / 3]);
    }
  }
}

TEST_CASE("CIFAR-10 trains on the data batches in order and never on the test batch") {
  TemporaryFolder folder;
  folder.write("cifar-10-batches-bin/data_batch_2.bin", records({2}));
  folder.write("cifar-10-batches-bin/data_batch_1.bin", records({1, 5}));
  folder.write("cifar-10-batches-bin/test_batch.bin", records({7, 8, 9}));
  for (const std::string& path : {folder.path(), folder.path() + "/cifar-10-batches-bin"}) {
    const DataConfig config = config_of(path);
    const Dataset train = load_cifar10(config, CifarPart::Train);
    CHECK(train.labels == std::vector<std::int32_t>{1, 5, 2});
    CHECK_THAT(train.description,
               Contains("cifar10, binary version, train part, 2 files in " + folder.path()));
    CHECK(load_cifar10(config, CifarPart::Test).labels == std::vector<std::int32_t>{7, 8, 9});
    CHECK(load_dataset(config, 1).labels == train.labels);
  }
}

TEST_CASE("a class list selects CIFAR-10 classes, relabels them and counts for the limit") {
  TemporaryFolder folder;
  folder.write("data_batch_1.bin", records({3, 1, 1, 9}));
  folder.write("data_batch_2.bin", records({1, 9, 3, 3}, 50));
  DataConfig config = config_of(folder.path());
  config.classes = {"truck", "cat"};
  CHECK(load_cifar10(config, CifarPart::Train).labels == std::vector<std::int32_t>{1, 0, 0, 1, 1});
  config.limit_per_class = 2;
  const Dataset dataset = load_cifar10(config, CifarPart::Train);
  CHECK(dataset.labels == std::vector<std::int32_t>{1, 0, 0, 1});
  CHECK(dataset.images[3072] == test::pattern(1, 4)[0]);  // the first truck is record 3
  CHECK(dataset.class_names == config.classes);

  config.classes = {"trucks"};
  CHECK_THAT(error_of(ErrorKind::Data, [&] { load_cifar10(config, CifarPart::Train); }),
             Contains("'trucks'") && Contains("did you mean 'truck'") && Contains("airplane"));
}

TEST_CASE("batches.meta.txt names the classes") {
  TemporaryFolder folder;
  folder.write("data_batch_1.bin", records({1}));
  folder.write("batches.meta.txt",
               std::string_view("a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\r\ni\r\nj j\r\n\r\n"));
  const Dataset dataset = load_cifar10(config_of(folder.path()), CifarPart::Train);
  CHECK(dataset.class_names ==
        std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j j"});
  for (const std::string_view names : {"a\nb\n", "a\na\nc\nd\ne\nf\ng\nh\ni\nj\n", ""}) {
    folder.write("batches.meta.txt", names);
    CHECK_THAT(error_at(folder.path()), Contains("batches.meta.txt") && Contains("10 different"));
  }
}

TEST_CASE("CIFAR-10 files of a wrong length are errors, CIFAR-100 by name") {
  Bytes bytes = records({1, 2});
  bytes.pop_back();
  CHECK_THAT(error_with(bytes), Contains("data_batch_1.bin") && Contains("6145 bytes") &&
                                    Contains("3073") && Contains("truncated"));
  bytes.resize(std::size_t{2} * 3074);
  CHECK_THAT(error_with(bytes), Contains("6148 bytes") && Contains("record of CIFAR-100") &&
                                    Contains("set data.kind to cifar100"));
  CHECK_THAT(error_with({}), Contains("data_batch_1.bin") && Contains("empty"));
}

TEST_CASE("a CIFAR-10 label above 9 is an error with file and record") {
  CHECK_THAT(error_with(records({1, 2, 10})),
             Contains("data_batch_1.bin") && Contains("label 10") && Contains("record 2"));
}

TEST_CASE("gaps and copies among the CIFAR-10 batches are errors") {
  TemporaryFolder folder;
  folder.write("data_batch_1.bin", records({1}));
  folder.write("data_batch_3.bin", records({1}));
  CHECK_THAT(error_at(folder.path()),
             Contains("data_batch_3.bin") && Contains("no data_batch_2.bin"));
  for (const std::string name :
       {"data_batch_1 (1).bin", "data_batch_02.bin", "data_batch_.bin", "data_batch_9999999.bin"}) {
    TemporaryFolder copies;
    copies.write("data_batch_1.bin", records({1}));
    copies.write(name, records({1}));
    CHECK_THAT(error_at(copies.path()), Contains(name) && Contains("no batch of CIFAR-10"));
  }
}

TEST_CASE("what has a batch's name and is no file is an error that names it") {
  TemporaryFolder folder;
  folder.write("data_batch_1.bin", records({1}));
  folder.make_link("data_batch_2.bin", "gone");
  CHECK_THAT(error_at(folder.path()),
             Contains("data_batch_2.bin' is a link to 'gone', which does not exist"));
  folder.remove("data_batch_2.bin");
  folder.make_pipe("data_batch_2.bin");
  CHECK_THAT(error_at(folder.path()), Contains("data_batch_2.bin' is a pipe"));
  folder.remove("data_batch_2.bin");
  folder.make_folder("data_batch_2.bin");
  CHECK_THAT(error_at(folder.path()), Contains("data_batch_2.bin' is a folder"));
  folder.remove("data_batch_2.bin");
  folder.make_link("batches.meta.txt", "gone");
  CHECK_THAT(error_at(folder.path()), Contains("batches.meta.txt' is a link to 'gone'"));

  const TemporaryFolder above;
  above.make_link("cifar-10-batches-bin", "gone");
  CHECK_THAT(error_at(above.path()), Contains("cifar-10-batches-bin' does not exist"));
}

TEST_CASE("a data path without CIFAR-10 in it is told in a sentence with a hint") {
  TemporaryFolder folder;
  const auto error_beside = [&](const std::string& name) {
    TemporaryFolder other;
    other.write(name, std::string_view("x"));
    return error_at(other.path());
  };
  CHECK_THAT(error_at(folder.path()), Contains(folder.path()) && Contains("no files of CIFAR-10") &&
                                          Contains("cifar-10-batches-bin") &&
                                          Contains("cifar-10-python.tar.gz"));
  CHECK_THAT(error_at(folder.path() + "/x"), Contains("does not exist"));
  CHECK_THAT(error_at(""), Contains("data.path is not set"));
  CHECK_THAT(error_beside("data_batch_1"), Contains("data_batch_1' is no pickled batch"));
  CHECK_THAT(error_beside("train.bin"),
             Contains("holds CIFAR-100, not CIFAR-10: set data.kind to cifar100"));
  CHECK_THAT(error_beside("cifar-10-binary.tar.gz"), Contains("cannot be read as a tar archive"));
  CHECK_THAT(error_beside("test_batch.bin"), Contains("no data_batch_1.bin"));
  folder.write("data_batch_1.bin", records({1}));
  CHECK_THAT(error_at(folder.path(), CifarPart::Test), Contains("no test_batch.bin"));
  folder.write("test_batch.bin", records({1}));
  DataConfig config = config_of(folder.path());
  config.image_size = 28;
  CHECK_THAT(error_of(ErrorKind::Usage, [&] { load_cifar10(config, CifarPart::Train); }),
             Contains("data.image_size is 28") && Contains("32x32"));
}

TEST_CASE("CIFAR-10 in grey weighs the colours") {
  TemporaryFolder folder;
  Bytes record(kRecordBytes, 0);
  std::fill_n(record.begin() + 1, 1024, std::uint8_t{255});  // all red
  folder.write("data_batch_1.bin", record);
  DataConfig config = config_of(folder.path());
  config.channels = 1;
  const Dataset dataset = load_dataset(config, 1);
  CHECK(dataset.channels == 1);
  CHECK(dataset.images == Bytes(1024, 77));
}

TEST_CASE("CIFAR-10 is read straight from its archive") {
  const Bytes archive =
      test::gzipped(test::tar({{"cifar-10-batches-bin/", {}, '5'},
                               {"cifar-10-batches-bin/data_batch_2.bin", records({2})},
                               {"cifar-10-batches-bin/batches.meta.txt", Bytes{'a', '\n'}},
                               {"cifar-10-batches-bin/data_batch_1.bin", records({1, 5})},
                               {"cifar-10-batches-bin/test_batch.bin", records({7})},
                               {"cifar-10-batches-bin/readme.html", Bytes{'x'}}}));
  TemporaryFolder folder;
  folder.write("cifar-10-binary.tar.gz", archive);
  folder.write("renamed.tgz", archive);
  CHECK_THAT(error_at(folder.path()), Contains("cifar-10-binary.tar.gz:batches.meta.txt'") &&
                                          Contains("10 different classes"));
  const std::string names = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  folder.write("cifar-10-binary.tar.gz",
               test::gzipped(test::tar({{"x/data_batch_2.bin", records({2})},
                                        {"x/batches.meta.txt", Bytes(names.begin(), names.end())},
                                        {"x/data_batch_1.bin", records({1, 5}, 9)},
                                        {"x/test_batch.bin", records({7})}})));
  for (const std::string& path : {folder.path(), folder.path() + "/cifar-10-binary.tar.gz"}) {
    const Dataset train = load_cifar10(config_of(path), CifarPart::Train);
    CHECK(train.labels == std::vector<std::int32_t>{1, 5, 2});
    CHECK(train.class_names[9] == "9");
    CHECK(train.images[0] == test::pattern(1, 10)[0]);
    CHECK_THAT(train.description, Contains("2 files in " + folder.path() + "/cifar-10-binary"));
    CHECK(load_cifar10(config_of(path), CifarPart::Test).labels == std::vector<std::int32_t>{7});
  }
  // A folder with batches goes before an archive beside it; a path that is a file is an archive.
  CHECK_THAT(error_at(folder.path() + "/renamed.tgz"), Contains("renamed.tgz:batches.meta.txt"));
  folder.write("cifar-10-batches-bin/data_batch_1.bin", records({9}));
  CHECK(load_cifar10(config_of(folder.path()), CifarPart::Train).count() == 1);
  folder.write("empty.tar", test::tar({}));
  CHECK_THAT(error_at(folder.path() + "/empty.tar"), Contains("no files of CIFAR-10"));
  folder.write("wrong.tar", test::tar({{"train.bin", Bytes(3074, 1)}}));
  CHECK_THAT(error_at(folder.path() + "/wrong.tar"), Contains("holds CIFAR-100"));
  CHECK_THAT(error_at(folder.path() + "/cifar-10-batches-bin/data_batch_1.bin"),
             Contains("is a file, not a folder"));
}

TEST_CASE("CIFAR-100 has fine and coarse labels") {
  Bytes bytes;
  for (const int fine : {99, 0, 42}) {
    bytes.push_back(static_cast<std::uint8_t>(fine / 5));
    bytes.push_back(static_cast<std::uint8_t>(fine));
    const Bytes planes = test::pattern(kRecordBytes - 1, fine);
    bytes.insert(bytes.end(), planes.begin(), planes.end());
  }
  std::string fine_names, coarse_names;
  for (int i = 0; i < 100; ++i) fine_names += fmt::format("fine{}\n", i);
  for (int i = 0; i < 20; ++i) coarse_names += fmt::format("coarse{}\n", i);
  TemporaryFolder folder;
  DataConfig config = config_of(folder.path());
  config.kind = DataKind::Cifar100;
  const auto error = [&] { return error_of(ErrorKind::Data, [&] { load_dataset(config, 1); }); };
  folder.write("cifar-100-binary/train.bin", bytes);
  CHECK_THAT(error(), Contains("no fine_label_names.txt"));
  folder.write("cifar-100-binary/fine_label_names.txt", std::string_view(fine_names));
  folder.write("cifar-100-binary/coarse_label_names.txt", std::string_view(coarse_names));
  const Dataset fine = load_dataset(config, 1);
  CHECK(fine.labels == std::vector<std::int32_t>{99, 0, 42});
  CHECK(fine.class_names[42] == "fine42");
  CHECK(fine.images[3072] == test::pattern(1, 0)[0]);
  CHECK_THAT(fine.description, Contains("cifar100 (fine labels), binary version, train part"));
  config.labels = Cifar100Labels::Coarse;
  const Dataset coarse = load_dataset(config, 1);
  CHECK(coarse.labels == std::vector<std::int32_t>{19, 0, 8});
  CHECK(coarse.class_names.size() == 20);
  CHECK(coarse.class_names[8] == "coarse8");
  CHECK(coarse.images == fine.images);
  CHECK_THAT(error_of(ErrorKind::Data, [&] { load_cifar100(config, CifarPart::Test); }),
             Contains("no test.bin"));

  CHECK_THAT(error_at(folder.path() + "/cifar-100-binary"), Contains("set data.kind to cifar100"));
  bytes[3074] = 20;
  folder.write("cifar-100-binary/train.bin", bytes);
  CHECK_THAT(error(), Contains("label 20 in record 1") && Contains("0 to 19"));
  folder.write("cifar-100-binary/train.bin", records({1}));
  CHECK_THAT(error(), Contains("record of CIFAR-10: set data.kind to cifar10"));
  config.path = folder.path() + "/ten";
  folder.write("ten/data_batch_1.bin", records({1}));
  CHECK_THAT(error(), Contains("holds CIFAR-10, not CIFAR-100"));
}

TEST_CASE("the real CIFAR-10 slices load with their counts and upright pixels", "[shared]") {
  const DataConfig config = config_of((test::shared_dir() / "data").string());
  const Dataset train = load_cifar10(config, CifarPart::Train);
  CHECK(train.count() == 6000);
  CHECK(train.counts_by_class() ==
        std::vector<std::int64_t>{597, 571, 628, 589, 614, 595, 608, 590, 608, 600});
  const auto pixel = [&](std::size_t n, std::size_t y, std::size_t x) {
    const auto begin = train.images.begin() + static_cast<long>(((n * 32 + y) * 32 + x) * 3);
    return Bytes(begin, begin + 3);
  };
  // Read from the pickles of the python version; record 0 is the frog that everybody knows.
  CHECK(train.labels[0] == 6);
  CHECK(pixel(0, 0, 0) == Bytes{59, 62, 63});
  CHECK(pixel(0, 0, 31) == Bytes{148, 124, 103});
  CHECK(pixel(0, 31, 0) == Bytes{177, 144, 116});
  CHECK(train.labels[7] == 7);
  CHECK(pixel(7, 5, 20) == Bytes{230, 191, 156});

  const Dataset held_out = load_cifar10(config, CifarPart::Test);
  CHECK(held_out.counts_by_class() == std::vector<std::int64_t>(10, 100));
}

}  // namespace acgan
