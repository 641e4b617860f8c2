#include <catch2/catch.hpp>
#include <numeric>

#include "data/data_files.h"
#include "data/dataset.h"
#include "data/simplify_drawing.h"
#include "data/stroke_raster.h"
#include "support/shared_dir.h"

namespace acgan {
namespace {

using Catch::Contains;
using test::binary_drawing;
using test::BinaryStroke;
using test::Bytes;
using test::error_of;
using test::TemporaryFolder;

constexpr std::size_t kPixels = std::size_t{28} * 28;
constexpr std::string_view kLine = R"({"word":"cat","recognized":true,"drawing":)"
                                   R"([[[0,128,255],[0,100,60]],[[30],[40]]]})";
constexpr std::string_view kUnrecognized = R"({"drawing":[[[9,9],[0,255]]],"recognized":false})";

DataConfig config_of(const std::string& path) {
  DataConfig config;
  config.kind = DataKind::QuickDraw;
  config.path = path;
  return config;
}

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

Dataset loaded(const std::string& name, const Bytes& bytes, DataConfig config = {}) {
  TemporaryFolder folder;
  folder.write(name, bytes);
  config.kind = DataKind::QuickDraw;
  config.path = folder.path();
  return load_dataset(config, 1);
}

std::string line_error(std::string_view lines, DataConfig config = {}) {
  return error_of(ErrorKind::Data, [&] { loaded("cat.ndjson", bytes_of(lines), config); });
}

std::string binary_error(const Bytes& bytes) {
  return error_of(ErrorKind::Data, [&] { loaded("cat.bin", bytes); });
}

Bytes drawn(const Drawing& drawing, std::int64_t side = 28) {
  Bytes pixels(static_cast<std::size_t>(side * side), 7);
  StrokeRaster(side).draw(drawing, pixels);
  return pixels;
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("a drawing is the same in each format of strokes") {
  const Drawing drawing{.strokes = {{{0, 0}, {128, 100}, {255, 60}}, {{30, 40}}}};
  const Bytes expected = drawn(drawing);
  CHECK(loaded("cat.ndjson", bytes_of(kLine)).images == expected);
  CHECK(loaded("cat.bin", binary_drawing({{{0, 0}, {128, 100}, {255, 60}}, {{30, 40}}})).images ==
        expected);
  // Raw: moved, twice as large, with points in between; floats as well as integers.
  CHECK(loaded("cat.ndjson",
               bytes_of(R"({"drawing":[[[1000,1128,1256,1510],[-50.0,50,150,70],[0,1,2,3]],)"
                        R"([[1060],[30],[9]]]})"))
            .images == expected);
}

TEST_CASE("strokes are drawn centred, sixteen units wide, at any size") {
  // A line across the box: 28/304 of a pixel a unit, so its middle lies in row 14.
  const Drawing line{.strokes = {{{0, 0}, {255, 0}}}};
  for (const std::int64_t side : {28, 32, 256}) {
    const Bytes image = drawn(line, side);
    const double unit = static_cast<double>(side) / 304;
    double amount = 0;
    for (const std::uint8_t value : image) amount += value / 255.0;
    // A rectangle and two half circles.
    CHECK(amount == Approx((255 * 16 + 3.14159 * 64) * unit * unit).epsilon(0.03));
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x) {  // the drawing is symmetric
        CHECK(std::abs(image[static_cast<std::size_t>(y * side + x)] -
                       image[static_cast<std::size_t>(y * side + side - 1 - x)]) <= 16);
      }
    }
  }
}

TEST_CASE("blank lines, line ends of Windows and a missing last one change nothing") {
  const Bytes once = loaded("cat.ndjson", bytes_of(kLine)).images;
  const std::string line(kLine);
  for (const std::string& text : {line + "\n", line + "\r\n\r\n", "\n  \n" + line + "\n\n"}) {
    CHECK(loaded("cat.ndjson", bytes_of(text)).images == once);
  }
  CHECK(loaded("cat.ndjson", bytes_of(line + "\n" + line)).images ==
        test::concatenated({once, once}));
}

TEST_CASE("only_recognized leaves out what the game did not recognize") {
  const std::string text = fmt::format("{0}\n{1}\n{0}\n{1}\n", kLine, kUnrecognized);
  CHECK(loaded("cat.ndjson", bytes_of(text)).count() == 4);
  DataConfig config;
  config.only_recognized = true;
  const Bytes once = loaded("cat.ndjson", bytes_of(kLine)).images;
  const Dataset recognized = loaded("cat.ndjson", bytes_of(text), config);
  CHECK(recognized.images == test::concatenated({once, once}));
  CHECK_THAT(recognized.description, Contains("recognized drawings only"));
  const Bytes records =
      test::concatenated({binary_drawing({{{1, 1}}}, 0), binary_drawing({{{9, 9}}}, 1)});
  CHECK(loaded("cat.bin", records).count() == 2);
  CHECK(loaded("cat.bin", records, config).count() == 1);
  CHECK_THAT(line_error(kUnrecognized, config),
             Contains("cat.ndjson") && Contains("no drawing that was recognized, of 1"));
  CHECK_THAT(line_error(R"({"drawing":[[[1],[2]]]})", config),
             Contains("line 1") && Contains("data.only_recognized"));
  // The limit counts what is left.
  config.limit_per_class = 2;
  CHECK(loaded("cat.ndjson", bytes_of(fmt::format("{}\n{}", kUnrecognized, text)), config).images ==
        recognized.images);
}

TEST_CASE("limit_per_class reads strokes no further than it needs") {
  TemporaryFolder folder;
  folder.write("cat.ndjson", fmt::format("{0}\n{0}\nnonsense\n", kLine));
  folder.write("dog.bin", test::concatenated({binary_drawing({{{1, 2}, {3, 4}}}), {1, 2, 3}}));
  // Nothing of this lies on the disk: a loader that reads or holds it all does not finish.
  folder.resize("cat.ndjson", std::uint64_t{1} << 40);
  folder.resize("dog.bin", std::uint64_t{1} << 40);
  DataConfig config = config_of(folder.path());
  config.limit_per_class = 1;
  CHECK(load_dataset(config, 1).counts_by_class() == std::vector<std::int64_t>{1, 1});
  config.limit_per_class = 3;
  config.classes = {"cat"};
  CHECK_THAT(error_of(ErrorKind::Data, [&] { load_dataset(config, 1); }),
             Contains("cat.ndjson', line 3"));
}

TEST_CASE("files of many batches keep their order, and the first error counts") {
  std::string text;
  Bytes expected;
  for (int i = 0; i < 5000; ++i) {
    text += fmt::format("{{\"drawing\":[[[0,{}],[0,255]]]}}\n", i % 256);
  }
  for (int i = 0; i < 256; ++i) {
    const Bytes image = drawn({.strokes = {{{0, 0}, {static_cast<double>(i), 255}}}});
    expected.insert(expected.end(), image.begin(), image.end());
  }
  const Bytes images = loaded("cat.ndjson", bytes_of(text)).images;
  REQUIRE(images.size() == 5000 * kPixels);
  for (std::size_t i = 0; i < 5000; ++i) {
    CHECK(std::equal(images.begin() + static_cast<long>(i * kPixels),
                     images.begin() + static_cast<long>((i + 1) * kPixels),
                     expected.begin() + static_cast<long>(i % 256 * kPixels)));
  }
  text += "first\nsecond\n";
  CHECK_THAT(line_error(text), Contains("line 5001"));
}

TEST_CASE("lines that are no drawing are errors that say where and why") {
  const std::pair<const char*, const char*> kCases[] = {
      {"", "empty"},
      {"\n \n", "holds no drawing"},
      {"[]", "it is a list"},
      {"7", "it is a number"},
      {"{\"drawing\":", "no complete JSON"},
      {"{} {}", "no complete JSON"},
      {"{}", "has no \"drawing\""},
      {R"({"drawing":[]})", "no strokes"},
      {R"({"drawing":7})", "holds a number"},
      {R"({"drawing":[7]})", "holds a number"},
      {R"({"drawing":[[1,2],[3,4]]})", "holds a number"},
      {R"({"drawing":[[["a"],[3]]]})", "holds a text"},
      {R"({"drawing":[[[null],[3]]]})", "holds null"},
      {R"({"drawing":[[[{}],[3]]]})", "holds an object"},
      {R"({"drawing":[[[[1]],[3]]]})", "list within a list"},
      {R"({"drawing":[[[1]]]})", "stroke 1 has 1 list"},
      {R"({"drawing":[[]]})", "stroke 1 has 0 lists"},
      {R"({"drawing":[[[1],[2],[3],[4]]]})", "more than three lists"},
      {R"({"drawing":[[[1],[2]],[[1,2],[3]]]})", "stroke 2 has 2 values of x and 1 of y"},
      {R"({"drawing":[[[1],[2],[3,4]]]})", "1 values of x and 2 of t"},
      {R"({"drawing":[[[],[]]]})", "stroke 1 has no points"},
      {R"({"drawing":[[[1],[2]]],"drawing":[[[1],[2]]]})", "\"drawing\" twice"},
      {R"({"drawing":[[[1],[2]]],"recognized":1})", "\"recognized\" is a number"},
      {R"({"drawing":[[[1],[2]]],"recognized":{}})", "\"recognized\" is an object"},
      {R"({"drawing":[[[1],[256]]]})", "a point at (1, 256)"},
      {R"({"drawing":[[[-1],[2]]]})", "a point at (-1, 2)"},
      {R"({"drawing":[[[NaN],[2]]]})", "no complete JSON"},
      {R"({"drawing":[[[1e999],[2]]]})", "no complete JSON"},
      {R"({"drawing":[[[1e308,-1e308],[2,2],[0,1]]]})", "too far apart"},
  };
  for (const auto& [line, reason] : kCases) {
    INFO(line);
    CHECK_THAT(line_error(line), Contains("cat.ndjson") && Contains(reason));
    if (*line != '\0' && *line != '\n') {
      CHECK_THAT(line_error(fmt::format("{}\n\n{}\n{}", kLine, line, kLine)),
                 Contains("cat.ndjson', line 3 ") && Contains(reason));
    }
  }
}

TEST_CASE("strokes that would cost much time or memory are refused") {
  const std::string deep = "{\"x\":" + repeated("[", 2000000);
  CHECK_THAT(line_error(deep), Contains("line 1") && Contains("nested too deep"));
  CHECK_THAT(line_error("{\"drawing\":" + repeated("[", 2000000)), Contains("list within a list"));
  const std::string many = repeated("1,", 20000) + "1";
  CHECK_THAT(line_error(fmt::format("{{\"drawing\":[[[{0}],[{0}]]]}}", many)),
             Contains("more than 10000 points"));
  CHECK_THAT(line_error("{\"drawing\":[" + repeated("[[1],[2]],", 10001) + "[[1],[2]]]}"),
             Contains("more than 10000 points"));
  const std::string back_and_forth = repeated("0,255,", 300) + "0";
  const std::string still = repeated("0,0,", 300) + "0";
  CHECK_THAT(
      line_error(fmt::format("{{\"drawing\":[[[{0}],[{1}],[{1}]]]}}", back_and_forth, still)),
      Contains("line 1 cannot be simplified") && Contains("257 times"));
  CHECK_THAT(line_error(repeated(" ", 6 << 20)), Contains("line 1 is longer than 4194304 bytes"));
  TemporaryFolder folder;
  folder.write("cat.ndjson", kLine);
  folder.resize("cat.ndjson", std::uint64_t{1} << 40);  // zeros without an end of line
  CHECK_THAT(error_of(ErrorKind::Data, [&] { load_dataset(config_of(folder.path()), 1); }),
             Contains("line 1 is longer"));
}

TEST_CASE("binary records that are no drawing are errors that say where") {
  const Bytes good = binary_drawing({{{1, 2}, {3, 4}}, {{5, 6}}});
  const auto after_good = [&](const Bytes& bytes) {
    return binary_error(test::concatenated({good, bytes}));
  };
  CHECK_THAT(binary_error({}), Contains("cat.bin") && Contains("empty"));
  CHECK_THAT(after_good(binary_drawing({})), Contains("record 2") && Contains("no strokes"));
  CHECK_THAT(after_good(binary_drawing({{{1, 2}}, {}})),
             Contains("record 2") && Contains("stroke 2 has no points"));
  CHECK_THAT(after_good(binary_drawing({{{1, 2}}}, 2)),
             Contains("record 2") && Contains("\"recognized\" is 2"));
  CHECK_THAT(after_good(binary_drawing({BinaryStroke(10001, {1, 2})})),
             Contains("record 2") && Contains("more than 10000 points"));
  for (std::size_t length = 1; length < good.size(); ++length) {
    INFO(length);
    CHECK_THAT(after_good(Bytes(good.begin(), good.begin() + static_cast<long>(length))),
               Contains("cat.bin") && Contains("truncated: record 2") && Contains("byte 27"));
  }
  Bytes endless = good;
  endless[15] = endless[16] = endless[17] = endless[18] = 0xFF;
  TemporaryFolder folder;
  folder.write("cat.bin", endless);
  folder.resize("cat.bin", std::uint64_t{1} << 40);
  CHECK_THAT(error_of(ErrorKind::Data, [&] { load_dataset(config_of(folder.path()), 1); }),
             Contains("record "));
}

TEST_CASE("simplifying moves, scales, thins out and rounds") {
  Drawing drawing{.strokes = {{{10, 20}, {15, 20}, {20, 20}, {20, 30}}, {{20, 25}}},
                  .is_raw = true};
  CHECK_FALSE(simplify_drawing(drawing).has_value());
  CHECK_FALSE(drawing.is_raw);
  const auto points_of = [](const Stroke& stroke) {
    std::vector<std::pair<double, double>> points;
    for (const Point& point : stroke) points.emplace_back(point.x, point.y);
    return points;
  };
  using Points = std::vector<std::pair<double, double>>;
  REQUIRE(drawing.strokes.size() == 2);
  CHECK(points_of(drawing.strokes[0]) == Points{{0, 0}, {255, 0}, {255, 255}});
  // A dot is a line without length; halves are rounded to even.
  CHECK(points_of(drawing.strokes[1]) == Points{{255, 128}, {255, 128}});

  Drawing dot{.strokes = {{{-3e300, 7}}}, .is_raw = true};
  CHECK_FALSE(simplify_drawing(dot).has_value());
  CHECK(points_of(dot.strokes[0]) == Points{{0, 0}, {0, 0}});
  Drawing tiny{.strokes = {{{0, 0}, {1e-320, 1e-320}}}, .is_raw = true};
  CHECK_FALSE(simplify_drawing(tiny).has_value());
  CHECK(points_of(tiny.strokes[0]) == Points{{0, 0}, {0, 0}});
}

TEST_CASE("strokes of each format become Google's own bitmaps", "[shared]") {
  const auto folder = test::shared_dir() / "data/quickdraw_strokes";
  const Dataset expected = load_dataset(config_of((folder / "bitmaps").string()), 1);
  REQUIRE(expected.count() == 250);
  for (const char* format : {"simplified", "binary"}) {
    INFO(format);
    const Dataset strokes = load_dataset(config_of((folder / format).string()), 1);
    CHECK(strokes.class_names == expected.class_names);
    CHECK(strokes.labels == expected.labels);
    CHECK(strokes.images == expected.images);
  }
  DataConfig config = config_of((folder / "bitmaps").string());
  config.classes = {"airplane", "bee"};
  config.limit_per_class = 25;
  const Bytes bitmaps = load_dataset(config, 1).images;
  config.path = (folder / "raw").string();
  CHECK(load_dataset(config, 1).images == bitmaps);
  config.limit_per_class = 0;
  CHECK(load_dataset(config, 1).counts_by_class() == std::vector<std::int64_t>{50, 50});
}

TEST_CASE("only_recognized counts what the files of real drawings say", "[shared]") {
  const auto folder = test::shared_dir() / "data/quickdraw_strokes";
  for (const char* format : {"simplified", "binary"}) {
    DataConfig config = config_of((folder / format).string());
    config.only_recognized = true;
    CHECK(load_dataset(config, 1).count() == 228);
  }
}

}  // namespace acgan
