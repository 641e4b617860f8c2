#include "data/image_folder.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "data/data_files.h"
#include "data/picture_files.h"
#include "support/shared_dir.h"

namespace acgan {
namespace {

using Catch::Contains;
using test::bmp;
using test::Bytes;
using test::error_of;
using test::jpeg;
using test::plain;
using test::png;
using test::TemporaryFolder;

DataConfig config_of(const std::string& path, std::int64_t image_size = 8) {
  DataConfig config;
  config.kind = DataKind::Folder;
  config.path = path;
  config.image_size = image_size;
  config.cache = false;
  return config;
}

std::string error_at(const DataConfig& config) {
  return error_of(ErrorKind::Data, [&] { load_image_folder(config); });
}

}  // namespace

TEST_CASE("each folder is a class and each image in it an example") {
  TemporaryFolder folder;
  folder.write("dogs/b.bmp", bmp(plain(9, 12, {10, 20, 30})));
  folder.write("dogs/a.PNG", png(plain(8, 8, {1, 2, 3})));
  folder.write("big cats/x.jpeg", jpeg(plain(40, 30, {200, 200, 200})));
  folder.write("big cats/png in disguise.jpg", png(plain(5, 5, {7})));
  folder.write("big cats/notes.txt", std::string_view("ignored"));
  folder.write("big cats/animation.webp", std::string_view("ignored"));
  folder.write("readme.md", std::string_view("ignored"));
  folder.make_folder("dogs/nested");
  folder.make_folder(".git");
  const Dataset dataset = load_image_folder(config_of(folder.path()));
  CHECK(dataset.class_names == std::vector<std::string>{"big cats", "dogs"});
  CHECK(dataset.labels == std::vector<std::int32_t>{0, 0, 1, 1});
  CHECK(dataset.channels == 3);
  CHECK(dataset.description == "folder, 2 classes in " + folder.path() + ", 3 other files ignored");
  const Bytes firsts = {dataset.images[0], dataset.images[192], dataset.images[385],
                        dataset.images[578]};
  CHECK(firsts == Bytes{7, 200, 2, 30});

  DataConfig config = config_of(folder.path());
  config.classes = {"dogs"};
  config.limit_per_class = 1;
  const Dataset limited = load_image_folder(config);
  CHECK(limited.class_names == config.classes);
  CHECK(limited.images == plain(8, 8, {1, 2, 3}).pixels);  // a.PNG
  config.classes = {"dog"};
  CHECK_THAT(error_at(config), Contains("'dog'") && Contains("did you mean 'dogs'"));
}

TEST_CASE("channels: 1 loads images grey") {
  TemporaryFolder folder;
  folder.write("a/x.png", png(plain(3, 3, {255, 0, 0})));
  DataConfig config = config_of(folder.path(), 4);
  config.channels = 1;
  const Dataset dataset = load_dataset(config, 1);
  CHECK(dataset.channels == 1);
  CHECK(dataset.images == Bytes(16, 77));
}

TEST_CASE("folders that hold no classes or no images are errors") {
  TemporaryFolder folder;
  CHECK_THAT(error_at(config_of(folder.path())), Contains("no class folders"));
  folder.write("loose.png", png(plain(2, 2, {1})));
  CHECK_THAT(error_at(config_of(folder.path())), Contains("1 image lies directly in it"));
  CHECK_THAT(error_at(config_of(folder.path() + "/loose.png")), Contains("is a file"));
  CHECK_THAT(error_at(config_of(folder.path() + "/x")), Contains("does not exist"));
  folder.write("cats/x.webp", std::string_view("x"));
  folder.make_folder("cats/more");
  CHECK_THAT(error_at(config_of(folder.path())),
             Contains("cats") && Contains("no image (1 other file, 1 folder)"));
}

TEST_CASE("what stands for an image or a class and is none is an error that names it") {
  TemporaryFolder folder;
  folder.write("cats/a.png", png(plain(2, 2, {1})));
  DataConfig config = config_of(folder.path());
  folder.make_link("cats/b.PNG", "/nowhere/b.png");
  CHECK_THAT(error_at(config),
             Contains("cats/b.PNG' is a link to '/nowhere/b.png', which does not exist"));
  folder.remove("cats/b.PNG");
  folder.make_pipe("cats/b.jpg");
  CHECK_THAT(error_at(config), Contains("cats/b.jpg' is a pipe"));
  folder.remove("cats/b.jpg");
  folder.make_folder("cats/b.jpeg");  // a folder like any other
  CHECK(load_image_folder(config).count() == 1);

  folder.make_link("dogs", "/nowhere/dogs");
  CHECK_THAT(error_at(config), Contains("/dogs' is neither a folder nor a file"));
  config.classes = {"cats"};
  CHECK(load_image_folder(config).count() == 1);
  config.classes = {"cats", "dogs"};
  CHECK_THAT(error_at(config), Contains("/dogs' is neither a folder nor a file"));
}

TEST_CASE("the real photographs load, JPEG and PNG alike", "[shared]") {
  const auto data = test::shared_dir() / "data";
  const Dataset jpegs = load_image_folder(config_of((data / "image_folder").string(), 64));
  CHECK(jpegs.class_names == std::vector<std::string>{"bear", "deer", "duck", "turtle"});
  CHECK(jpegs.counts_by_class() == std::vector<std::int64_t>{20, 18, 19, 18});

  DataConfig config = config_of((data / "image_folder").string(), 64);
  config.limit_per_class = 8;
  const Dataset first = load_image_folder(config);
  const Dataset pngs = load_image_folder(config_of((data / "image_folder_png").string(), 64));
  REQUIRE(first.images.size() == pngs.images.size());
  double difference = 0;  // decoders may round differently
  for (std::size_t i = 0; i < first.images.size(); ++i) {
    difference += std::abs(first.images[i] - pngs.images[i]);
  }
  CHECK(difference / static_cast<double>(first.images.size()) < 1.0);
}

TEST_CASE("images in deeper folders belong to the class") {
  TemporaryFolder folder;
  folder.write("cats/b.png", png(plain(2, 2, {2})));
  folder.write("cats/a/deep/x.png", png(plain(2, 2, {3})));
  folder.write("cats/a/y.png", png(plain(2, 2, {4})));
  folder.write("cats/.hidden/z.png", png(plain(2, 2, {5})));
  folder.write("dogs/only/deeper/z.png", png(plain(2, 2, {6})));
  const Dataset dataset = load_image_folder(config_of(folder.path()));
  CHECK(dataset.labels == std::vector<std::int32_t>{0, 0, 0, 1});
  const Bytes firsts = {dataset.images[0], dataset.images[192], dataset.images[384],
                        dataset.images[576]};
  CHECK(firsts == Bytes{2, 4, 3, 6});

  folder.make_link("cats/a/again", "../../cats");
  CHECK_THAT(error_at(config_of(folder.path())),
             Contains("cats/a/again' leads back to a folder that it lies in"));
  folder.remove("cats/a/again");
  std::string deep = "cats";
  for (int i = 0; i < 40; ++i) deep += "/d";
  folder.make_folder(deep);
  CHECK_THAT(error_at(config_of(folder.path())), Contains("deeper than 32 folders"));
}

TEST_CASE("images that cannot be read are counted, the first ten with their reasons") {
  TemporaryFolder folder;
  folder.write("cats/a.png", png(plain(2, 2, {9})));
  folder.write("cats/b.png", std::string_view("broken"));
  folder.make_link("dogs/c.png", "gone");
  folder.write("dogs/d.png", png(plain(2, 2, {7})));
  DataConfig config = config_of(folder.path());
  CHECK_THAT(error_at(config), Contains("2 of 4 images in '" + folder.path() + "'") &&
                                   Contains("cats/b.png' cannot be decoded") &&
                                   Contains("dogs/c.png' is a link to 'gone'") &&
                                   Contains("set data.skip_unreadable to true"));
  config.skip_unreadable = true;
  const Dataset dataset = load_image_folder(config);
  CHECK(dataset.labels == std::vector<std::int32_t>{0, 1});
  CHECK(dataset.images[0] == 9);
  CHECK(dataset.images[192] == 7);
  CHECK_THAT(dataset.description,
             Contains("2 unreadable images skipped (the first: ") && Contains("cats/b.png)"));

  for (int i = 0; i < 12; ++i) {
    folder.write(fmt::format("cats/x{:02}.png", i), std::string_view("broken"));
  }
  config.skip_unreadable = false;
  CHECK_THAT(error_at(config), Contains("14 of 16 images") && Contains("x08.png'") &&
                                   !Contains("x09.png'") && Contains("; and 4 more"));
  folder.remove("cats/a.png");
  folder.remove("dogs/d.png");
  config.skip_unreadable = true;
  CHECK_THAT(error_at(config), Contains("14 of 14 images"));
}

}  // namespace acgan
