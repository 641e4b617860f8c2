#include "data/quickdraw.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "data/data_files.h"
#include "support/shared_dir.h"

namespace acgan {
namespace {

using Catch::Contains;
using test::Bytes;
using test::error_of;
using test::npy;
using test::npy_dictionary;
using test::pattern;
using test::TemporaryFolder;

constexpr std::size_t kPixels = std::size_t{28} * 28;

DataConfig config_of(const std::string& path) {
  DataConfig config;
  config.kind = DataKind::QuickDraw;
  config.path = path;
  return config;
}

Bytes bitmaps(int count, int salt = 1) {
  return npy(npy_dictionary(fmt::format("({}, 784)", count)),
             pattern(kPixels * static_cast<std::size_t>(count), salt));
}

// The message for a folder that holds just this file.
std::string error_with(const Bytes& bytes) {
  TemporaryFolder folder;
  folder.write("cat.npy", bytes);
  return error_of(ErrorKind::Data, [&] { load_quickdraw(config_of(folder.path())); });
}

Bytes images_of(const Bytes& bytes, std::int64_t image_size = 28, std::int64_t limit = 0) {
  TemporaryFolder folder;
  folder.write("cat.npy", bytes);
  DataConfig config = config_of(folder.path());
  config.image_size = image_size;
  config.limit_per_class = limit;
  return load_quickdraw(config).images;
}

}  // namespace

TEST_CASE("bitmaps become images in the order of classes and rows") {
  TemporaryFolder folder;
  folder.write("dog.npy", bitmaps(2, 1));
  folder.write("alarm clock.npy", bitmaps(3, 2));
  folder.write("notes.txt", std::string_view("ignored"));
  folder.write("._dog.npy", std::string_view("ignored"));
  folder.make_folder("old");
  const Dataset dataset = load_quickdraw(config_of(folder.path()));
  CHECK(dataset.class_names == std::vector<std::string>{"alarm clock", "dog"});
  CHECK(dataset.labels == std::vector<std::int32_t>{0, 0, 0, 1, 1});
  CHECK(dataset.height == 28);
  CHECK(dataset.width == 28);
  CHECK(dataset.channels == 1);
  CHECK(dataset.images == test::concatenated({pattern(3 * kPixels, 2), pattern(2 * kPixels, 1)}));
  CHECK(dataset.description == "quickdraw, 2 files in " + folder.path());
}

TEST_CASE("what has a bitmap file's name and is none is an error that names it") {
  TemporaryFolder folder;
  folder.write("cat.npy", bitmaps(1));
  const auto error = [&] {
    return error_of(ErrorKind::Data, [&] { load_quickdraw(config_of(folder.path())); });
  };
  folder.make_link("dog.npy", "gone.npy");
  CHECK_THAT(error(), Contains("dog.npy' is a link to 'gone.npy', which does not exist"));
  folder.remove("dog.npy");
  folder.make_pipe("dog.npy");
  CHECK_THAT(error(), Contains("dog.npy' is a pipe"));
  folder.remove("dog.npy");
  folder.make_folder("dog.npy");
  CHECK_THAT(error(), Contains("dog.npy' is a folder"));
  folder.remove("dog.npy");
  folder.make_link("dog.npy", "cat.npy");
  CHECK(load_quickdraw(config_of(folder.path())).count() == 2);

  // Those that nobody asked for are never opened.
  folder.make_link("owl.npy", "gone.npy");
  DataConfig config = config_of(folder.path());
  config.classes = {"cat", "dog"};
  CHECK(load_quickdraw(config).count() == 2);
}

TEST_CASE("the class of a bitmap file is its name without what downloads add") {
  TemporaryFolder folder;
  folder.write("full_numpy_bitmap_airplane.npy", bitmaps(1));
  folder.write("full%2Fnumpy_bitmap%2Fthe%20mona lisa.npy", bitmaps(1));
  folder.write("100%.npy", bitmaps(1));
  folder.write("t-shirt.NPY", bitmaps(1));
  folder.write("full.npy", bitmaps(1));
  folder.write("raw_egg.npy", bitmaps(1));
  const std::string drawing = R"({"drawing":[[[1],[2]]]})";
  folder.write("full_simplified_cat.ndjson", drawing);
  folder.write("full%2Fraw%2Fdog.ndjson", drawing);
  folder.write("simplified%2Ffish.ndjson", drawing);
  folder.write("full_binary_owl.bin", test::binary_drawing({{{1, 2}}}));
  CHECK(load_quickdraw(config_of(folder.path())).class_names ==
        std::vector<std::string>{"100%", "airplane", "cat", "dog", "fish", "full", "owl", "raw_egg",
                                 "t-shirt", "the mona lisa"});
}

TEST_CASE("two bitmap files of one class are an error that names both") {
  TemporaryFolder folder;
  folder.write("cat.npy", bitmaps(1));
  folder.write("full_numpy_bitmap_cat.npy", bitmaps(1));
  CHECK_THAT(
      error_of(ErrorKind::Data, [&] { load_quickdraw(config_of(folder.path())); }),
      Contains("'cat.npy'") && Contains("'full_numpy_bitmap_cat.npy'") && Contains("class 'cat'"));
  folder.remove("full_numpy_bitmap_cat.npy");
  folder.write("full_simplified_cat.ndjson", std::string_view("never opened"));
  CHECK_THAT(
      error_of(ErrorKind::Data, [&] { load_quickdraw(config_of(folder.path())); }),
      Contains("'cat.npy'") && Contains("'full_simplified_cat.ndjson'") && Contains("class 'cat'"));
}

TEST_CASE("a bitmap file without a usable class name is an error") {
  for (const std::string name : {"full_numpy_bitmap_.npy", "a%0Ab.npy", "a%00.npy"}) {
    TemporaryFolder folder;
    folder.write(name, bitmaps(1));
    CHECK_THAT(error_of(ErrorKind::Data, [&] { load_quickdraw(config_of(folder.path())); }),
               Contains(name) && Contains("class name"));
  }
}

TEST_CASE("a class list selects bitmap files and gives the order of labels") {
  TemporaryFolder folder;
  folder.write("cat.npy", bitmaps(1, 1));
  folder.write("dog.npy", bitmaps(2, 2));
  folder.write("owl.npy", std::string_view("never opened"));
  DataConfig config = config_of(folder.path());
  config.classes = {"dog", "cat"};
  const Dataset dataset = load_quickdraw(config);
  CHECK(dataset.class_names == config.classes);
  CHECK(dataset.labels == std::vector<std::int32_t>{0, 0, 1});
  CHECK(dataset.images == test::concatenated({pattern(2 * kPixels, 2), pattern(kPixels, 1)}));

  config.classes = {"dog", "cats"};
  CHECK_THAT(error_of(ErrorKind::Data, [&] { load_quickdraw(config); }),
             Contains("'cats'") && Contains("did you mean 'cat'") &&
                 Contains("found: cat, dog, owl") && Contains(folder.path()));
  config.classes = {"dog", "cat", "dog"};
  CHECK_THAT(error_of(ErrorKind::Usage, [&] { load_quickdraw(config); }), Contains("'dog' twice"));
}

TEST_CASE("all .npy versions, both orders and all square shapes give the same images") {
  const Bytes data = pattern(3 * kPixels, 5);
  for (const int version : {1, 2, 3}) {
    for (const char* shape : {"(3, 784)", "(3, 28, 28)", "(3, 28, 28, 1)", "(3L,784L)"}) {
      INFO("version " << version << " shape " << shape);
      CHECK(images_of(npy(npy_dictionary(shape), data, version)) == data);
    }
  }
  for (const char* dtype : {"<u1", ">u1", "=u1", "u1"}) {
    const auto header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (3, 784)}}", dtype);
    CHECK(images_of(npy(header, data)) == data);
  }
  CHECK(images_of(npy("{\"shape\":(3,784),\"fortran_order\":False,\"descr\":\"|u1\"}", data)) ==
        data);

  Bytes flat(data.size()), rows(data.size());
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t y = 0; y < 28; ++y) {
      for (std::size_t x = 0; x < 28; ++x) {
        const std::uint8_t value = data[(n * 28 + y) * 28 + x];
        flat[(y * 28 + x) * 3 + n] = value;
        rows[(x * 28 + y) * 3 + n] = value;
      }
    }
  }
  const auto fortran = [](const char* shape) {
    return fmt::format("{{'descr': '|u1', 'fortran_order': True, 'shape': {}, }}", shape);
  };
  CHECK(images_of(npy(fortran("(3, 784)"), flat)) == data);
  CHECK(images_of(npy(fortran("(3, 28, 28)"), rows)) == data);
  CHECK(images_of(npy(fortran("(3, 28, 28, 1)"), rows)) == data);
  CHECK(images_of(npy(fortran("(3, 784)"), flat), 28, 2) == pattern(2 * kPixels, 5));
}

TEST_CASE("a long .npy header is skipped as a whole") {
  const std::string header = npy_dictionary("(1, 784)") + std::string(70000, ' ');
  CHECK(images_of(npy(header, pattern(kPixels, 3), 2)) == pattern(kPixels, 3));
  CHECK_THAT(error_with(npy(npy_dictionary("(1, 784)") + std::string(2000000, ' '), {}, 2)),
             Contains("cat.npy") && Contains("header of 2000") && Contains("1048588"));
}

TEST_CASE("bitmaps of another size are resized and the description says so") {
  TemporaryFolder folder;
  Bytes blocks(std::size_t{2} * 56 * 56);  // 2x2 blocks that average to a multiple of 2
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::size_t y = i / 56 % 56, x = i % 56;
    blocks[i] = static_cast<std::uint8_t>((y / 2 * 5 + x / 2 * 3) % 120 * 2 + (x + y) % 2 * 4);
  }
  folder.write("cat.npy", npy(npy_dictionary("(2, 56, 56)"), blocks));
  folder.write("dog.npy", bitmaps(1));
  const Dataset dataset = load_quickdraw(config_of(folder.path()));
  CHECK_THAT(dataset.description, Contains("1 of them resized to 28x28"));
  REQUIRE(dataset.images.size() == 3 * kPixels);
  for (std::size_t i = 0; i < 2 * kPixels; ++i) {
    const std::size_t y = i / 28 % 28, x = i % 28;
    CHECK(dataset.images[i] == (y * 5 + x * 3) % 120 * 2 + 2);
  }
  CHECK(images_of(npy(npy_dictionary("(1, 7, 7)"), Bytes(49, 200)), 20) == Bytes(400, 200));
}

TEST_CASE("images that are not square are cut in the middle, in either order") {
  Bytes data(std::size_t{2} * 30 * 28, 9);  // two rows too many, above and below
  for (std::size_t n = 0; n < 2; ++n) {
    const Bytes image = pattern(kPixels, static_cast<int>(n));
    std::copy(image.begin(), image.end(), data.begin() + static_cast<long>((n * 30 + 1) * 28));
  }
  const Bytes expected = test::concatenated({pattern(kPixels, 0), pattern(kPixels, 1)});
  CHECK(images_of(npy(npy_dictionary("(2, 30, 28)"), data)) == expected);
  Bytes columns(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t n = i / (30 * 28), y = i / 28 % 30, x = i % 28;
    columns[(x * 30 + y) * 2 + n] = data[i];
  }
  CHECK(images_of(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 30, 28), }",
                      columns)) == expected);
}

TEST_CASE("one file in colour makes a data set in colour, unless grey is asked for") {
  TemporaryFolder folder;
  folder.write("cat.npy", bitmaps(2));
  Bytes colour(3 * kPixels);
  for (std::size_t i = 0; i < kPixels; ++i) {
    colour[3 * i] = 255;
    colour[3 * i + 1] = static_cast<std::uint8_t>(i % 251);
    colour[3 * i + 2] = 10;
  }
  folder.write("dog.npy", npy(npy_dictionary("(1, 28, 28, 3)"), colour));
  DataConfig config = config_of(folder.path());
  const Dataset dataset = load_dataset(config, 1);
  CHECK(dataset.channels == 3);
  REQUIRE(dataset.images.size() == 9 * kPixels);
  const Bytes grey = pattern(2 * kPixels, 1);
  for (std::size_t i = 0; i < 6 * kPixels; ++i) CHECK(dataset.images[i] == grey[i / 3]);
  CHECK(std::equal(colour.begin(), colour.end(), dataset.images.begin() + 6 * kPixels));

  config.channels = 1;
  const Dataset made_grey = load_dataset(config, 1);
  CHECK(made_grey.channels == 1);
  REQUIRE(made_grey.images.size() == 3 * kPixels);
  CHECK(std::equal(grey.begin(), grey.end(), made_grey.images.begin()));
  CHECK(made_grey.images[2 * kPixels] == (77 * 255 + 29 * 10 + 128) >> 8);
}

TEST_CASE("only_recognized is refused where nothing tells what was recognized") {
  TemporaryFolder folder;
  folder.write("cat.npy", bitmaps(2));
  DataConfig config = config_of(folder.path());
  config.only_recognized = true;
  CHECK_THAT(error_of(ErrorKind::Data, [&] { load_dataset(config, 1); }),
             Contains("cat.npy") && Contains("data.only_recognized"));
  config.kind = DataKind::Doodles;
  CHECK_THAT(error_of(ErrorKind::Usage, [&] { load_dataset(config, 1); }),
             Contains("data.only_recognized") && Contains("quickdraw"));
}

TEST_CASE("limit_per_class takes the first bitmaps and reads no more") {
  TemporaryFolder folder;
  folder.write("cat.npy", bitmaps(3));
  folder.write("dog.npy", npy(npy_dictionary("(100000000, 784)"), pattern(2 * kPixels, 2)));
  // 78 GB of which nothing lies on the disk: a loader that reads or holds it all does not finish.
  folder.resize("dog.npy", 128 + 100000000 * std::uint64_t{kPixels});
  DataConfig config = config_of(folder.path());
  config.limit_per_class = 2;
  const Dataset dataset = load_quickdraw(config);
  CHECK(dataset.counts_by_class() == std::vector<std::int64_t>{2, 2});
  CHECK(dataset.images == test::concatenated({pattern(2 * kPixels, 1), pattern(2 * kPixels, 2)}));
}

TEST_CASE("bitmap files that are too short or too long are errors with both lengths") {
  Bytes bytes = bitmaps(3);
  bytes.resize(bytes.size() - 100);
  CHECK_THAT(error_with(bytes), Contains("cat.npy") && Contains("truncated") &&
                                    Contains("2352 bytes") && Contains("2252 bytes"));
  bytes.resize(bytes.size() + 101);
  CHECK_THAT(error_with(bytes), Contains("cat.npy") && Contains("longer") &&
                                    Contains("2352 bytes") && Contains("2353 bytes"));
  CHECK_THAT(error_with(bitmaps(0)), Contains("cat.npy") && Contains("no images"));
  CHECK_THAT(error_with({}), Contains("cat.npy") && Contains("empty"));
}

TEST_CASE("shapes that promise more than can be are errors before any allocation") {
  for (const char* shape : {"(1152921504606846976, 784)", "(18446744073709551615, 28, 28)",
                            "(4611686018427387904, 28, 28, 1)", "(23622320128, 784)"}) {
    INFO(shape);
    CHECK_THAT(error_with(npy(npy_dictionary(shape), pattern(kPixels, 1))),
               Contains("cat.npy") && Contains("promises") && Contains("784 bytes"));
  }
  CHECK_THAT(error_with(npy(npy_dictionary("(99999999999999999999999, 784)"), {})),
             Contains("cat.npy") && Contains("below 2^64"));
  for (const char* shape :
       {"(784,)", "()", "(3, 783)", "(3, 3072)", "(2, 1, 784)", "(2, 28, 28, 2)", "(2, 0, 0)",
        "(2, 1152921504606846976, 1152921504606846976)", "(2, 1, 28, 28)", "(1,1,1,1,1)"}) {
    INFO(shape);
    CHECK_THAT(error_with(npy(npy_dictionary(shape), pattern(2 * kPixels, 1))),
               Contains("cat.npy") && Contains("has shape (") && Contains("(N, 784)"));
  }
}

TEST_CASE("only uint8 is read, and objects are never unpickled") {
  const std::pair<const char*, const char*> kHints[] = {
      {"<f4", "multiply by 255"}, {"<f8", "multiply by 255"}, {"|b1", "* 255"},
      {"|i1", "astype('uint8')"}, {">u2", "astype('uint8')"}, {"<U5", "astype('uint8')"}};
  for (const auto& [dtype, hint] : kHints) {
    const std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (1, 784), }}", dtype);
    CHECK_THAT(error_with(npy(header, pattern(8 * kPixels, 1))),
               Contains("cat.npy") && Contains(dtype) && Contains("'|u1'") && Contains(hint));
  }
  CHECK_THAT(error_with(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1, 784), }",
                            pattern(kPixels, 1))),
             Contains("cat.npy") && Contains("'|O'") && Contains("never unpickled"));
  CHECK_THAT(error_with(npy("{'descr': [('a', '|u1'), ('b', '<f4', (2,))], 'fortran_order': "
                            "False, 'shape': (1, 784), }",
                            pattern(kPixels, 1))),
             Contains("cat.npy") && Contains("('b', '<f4', (2,))") && Contains("save the field"));
}

TEST_CASE("files that are not .npy are told apart") {
  const auto text_error = [](std::string_view text) {
    return error_with(Bytes(text.begin(), text.end()));
  };
  CHECK_THAT(text_error("<!DOCTYPE html><title>404</title>"), Contains("web page"));
  CHECK_THAT(text_error("PK\x03\x04 and so on"), Contains("name it .npz"));
  CHECK_THAT(text_error("0.5,0.5,0.25"), Contains("not a NumPy array file"));
  Bytes version9 = bitmaps(1);
  version9[6] = 9;
  CHECK_THAT(error_with(version9), Contains("cat.npy") && Contains("version 9.0"));
}

TEST_CASE("damaged .npy headers are errors that say where") {
  for (const char* header :
       {"{'descr': '|u1', 'fortran_order': False}", "{'descr': '|u1', 'shape': (1, 784)",
        "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1, 784)}",
        "{'descr': '|u1', 'fortran_order': 0, 'shape': (1, 784)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-1, 784)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': [1, 784]}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 784)} and more",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 784), 'extra': 1}",
        "{'descr': [('a', '|u1', 'fortran_order': False, 'shape': (1, 784)", "{'descr", "", "{"}) {
    INFO(header);
    CHECK_THAT(error_with(npy(header, pattern(kPixels, 1))),
               Contains("cat.npy") && Contains("damaged .npy header") && Contains("character"));
  }
}

TEST_CASE("a .npy file cut at any byte or with any byte of its header changed does no harm") {
  const Bytes whole = npy(npy_dictionary("(1, 784)"), pattern(kPixels, 1));
  TemporaryFolder folder;
  for (std::size_t length = 0; length < whole.size(); length += length < 140 ? 1 : 77) {
    folder.write("cat.npy", Bytes(whole.begin(), whole.begin() + static_cast<long>(length)));
    CHECK_THAT(error_of(ErrorKind::Data, [&] { load_quickdraw(config_of(folder.path())); }),
               Contains("cat.npy"));
  }
  for (std::size_t i = 0; i < 128; ++i) {
    for (const int value : {0x00, 0x28, 0x39, 0x20, 0xFF}) {
      Bytes changed = whole;
      changed[i] = static_cast<std::uint8_t>(value);
      folder.write("cat.npy", changed);
      try {
        const Dataset dataset = load_quickdraw(config_of(folder.path()));
        CHECK(dataset.images.size() == kPixels);
      } catch (const Error& error) {
        CHECK_THAT(error.what(), Contains("cat.npy"));
      }
    }
  }
}

TEST_CASE("a data path that is no folder of bitmaps is told in a sentence") {
  TemporaryFolder folder;
  folder.write("readme.txt", std::string_view("text"));
  const auto error_at = [](const std::string& path) {
    return error_of(ErrorKind::Data, [&] { load_quickdraw(config_of(path)); });
  };
  CHECK_THAT(error_at(""), Contains("data.path is not set"));
  CHECK_THAT(error_at(folder.path() + "/missing"), Contains("/missing' does not exist"));
  CHECK_THAT(error_at(folder.path() + "/readme.txt"), Contains("readme.txt' is a file"));
  CHECK_THAT(error_at(folder.path()), Contains(folder.path()) &&
                                          Contains("no .npy, .npz, .ndjson or .bin file") &&
                                          Contains("1 other file and"));
}

TEST_CASE("the real bitmaps load with their counts and pixels", "[shared]") {
  const std::string path = (test::shared_dir() / "data/quickdraw").string();
  const Dataset dataset = load_quickdraw(config_of(path));
  CHECK(dataset.class_names == std::vector<std::string>{"airplane", "apple", "bee", "bird", "book",
                                                        "cat", "clock", "dog", "eye", "fish"});
  CHECK(dataset.counts_by_class() ==
        std::vector<std::int64_t>{3600, 2700, 900, 3600, 3600, 3600, 1800, 3600, 2700, 2700});
  CHECK(dataset.images[60] == 0);
  CHECK(Bytes(dataset.images.begin() + 61, dataset.images.begin() + 66) ==
        Bytes{1, 59, 92, 101, 36});

  DataConfig config = config_of((test::shared_dir() / "data/quickdraw_extra").string());
  config.classes = {"rainbow", "alarm clock"};
  config.limit_per_class = 7;
  CHECK(load_quickdraw(config).counts_by_class() == std::vector<std::int64_t>{7, 7});
}

}  // namespace acgan
