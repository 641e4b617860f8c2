#include "data/image.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "data/data_files.h"
#include "data/image_folder.h"
#include "data/jpeg_segments.h"
#include "data/picture_files.h"
#include "data/png_chunks.h"

namespace acgan {
namespace {

using Catch::Contains;
using test::bmp;
using test::Bytes;
using test::error_of;
using test::jpeg;
using test::Picture;
using test::plain;
using test::png;
using test::png_16_bit;
using test::png_header;
using test::png_palette;
using test::TemporaryFolder;
using test::with_checksums;

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

std::string error_with(const Bytes& bytes, const std::string& name) {
  TemporaryFolder folder;
  folder.write("cats/" + name, bytes);
  return error_at(config_of(folder.path()));
}

}  // namespace

TEST_CASE("the centred square of an image is kept") {
  // Columns 0..1 and 10.. of 12 are white; the middle 8 of 8 rows are numbered.
  Picture picture = plain(12, 8, {255});
  for (std::size_t i = 0; i < 64; ++i) {
    picture.pixels[i / 8 * 12 + 2 + i % 8] = static_cast<std::uint8_t>(i);
  }
  Bytes result(64);
  const Image wide = decode_image(png(picture), "wide.png", 1);
  resample_square(wide, PixelScale::Srgb, 8, result);
  for (std::size_t i = 0; i < 64; ++i) CHECK(result[i] == i);

  Picture tall = plain(8, 12, {255});
  std::copy_n(result.begin(), 64, tall.pixels.begin() + 16);
  Bytes from_tall(64);
  resample_square(decode_image(png(tall), "tall.png", 1), PixelScale::Srgb, 8, from_tall);
  CHECK(from_tall == result);
}

TEST_CASE("shrinking averages light, enlarging stays within the values") {
  // A fine chequerboard is half the light, which displays show at about 188.
  Picture board = plain(64, 64, {0});
  for (std::size_t i = 0; i < board.pixels.size(); ++i) {
    board.pixels[i] = (i / 64 + i) % 2 == 0 ? 255 : 0;
  }
  const Image image = decode_image(png(board), "board.png", 1);
  Bytes result(std::size_t{16} * 16);
  resample_square(image, PixelScale::Srgb, 16, result);
  CHECK(result == Bytes(256, 188));
  resample_square(image, PixelScale::Linear, 16, result);
  for (const std::uint8_t value : result) CHECK(std::abs(value - 127.5) < 1);

  const Image small{.height = 2, .width = 2, .channels = 1, .pixels = {40, 40, 90, 90}};
  Bytes large(std::size_t{20} * 20);
  resample_square(small, PixelScale::Linear, 20, large);
  CHECK(large.front() == 40);
  CHECK(large.back() == 90);
  CHECK(std::is_sorted(large.begin(), large.end()));
}

TEST_CASE("transparent pixels lie on white and colours turn grey by weight") {
  const auto pixels_of = [](const Bytes& color, std::int64_t channels) {
    return decode_image(png(plain(1, 1, color)), "one.png", channels).pixels;
  };
  CHECK(pixels_of({10, 20, 30, 0}, 3) == Bytes{255, 255, 255});
  CHECK(pixels_of({10, 20, 30, 255}, 3) == Bytes{10, 20, 30});
  CHECK(pixels_of({0, 100, 255, 51}, 3) == Bytes{204, 224, 255});
  CHECK(pixels_of({100, 0}, 1) == Bytes{255});
  CHECK(pixels_of({100, 255}, 3) == Bytes{100, 100, 100});
  CHECK(pixels_of({99}, 3) == Bytes{99, 99, 99});
  CHECK(pixels_of({255, 0, 0}, 1) == Bytes{77});
  CHECK(pixels_of({0, 255, 0}, 1) == Bytes{149});
  CHECK(pixels_of({255, 255, 255}, 1) == Bytes{255});
}

TEST_CASE("16-bit images keep their upper bits") {
  CHECK(decode_image(png_16_bit({0x1234, 0xFFFF, 0x0080}), "deep.png", 1).pixels ==
        Bytes{0x12, 0xFF, 0x00});
}

TEST_CASE("a BMP may have its rows from top to bottom") {
  const Picture picture{3, 2, 1, {1, 2, 3, 4, 5, 6}};
  Bytes bytes = bmp(picture);
  CHECK(decode_image(bytes, "x.bmp", 1).pixels == picture.pixels);
  constexpr std::size_t kHeight = 22;  // a 32-bit number at this byte
  for (const std::size_t i : {0, 1, 2, 3}) bytes[kHeight + i] = i == 0 ? 0xFE : 0xFF;
  const Image image = decode_image(bytes, "x.bmp", 1);
  CHECK(image.height == 2);
  CHECK(image.pixels == Bytes{4, 5, 6, 1, 2, 3});
}

TEST_CASE("images that cannot be read are errors with file and reason") {
  const Picture picture = plain(32, 24, {90, 150, 20});
  CHECK_THAT(error_with({}, "x.png"), Contains("cats/x.png") && Contains("empty"));
  CHECK_THAT(error_with(Bytes(100, 'a'), "x.png"),
             Contains("cats/x.png") && Contains("PNG, JPEG or BMP"));
  CHECK_THAT(error_with({'G', 'I', 'F', '8', '9', 'a', 1, 0, 1, 0, 0, 0, 0}, "x.png"),
             Contains("cats/x.png") && Contains("PNG, JPEG or BMP"));
  const auto cut = [](Bytes bytes, std::size_t missing) {
    bytes.resize(bytes.size() - missing);
    return bytes;
  };
  CHECK_THAT(error_with(cut(jpeg(picture), 2), "x.jpg"),
             Contains("cats/x.jpg") && Contains("truncated"));
  CHECK_THAT(error_with(cut(bmp(picture), 1), "x.bmp"),
             Contains("cats/x.bmp") && Contains("(32x24) is truncated"));
  CHECK_THAT(error_with(cut(png(picture), 20), "x.png"),
             Contains("cats/x.png") && Contains("chunk IDAT at byte 33 is truncated"));
  CHECK_THAT(error_with(cut(png(picture), 12), "x.png"),
             Contains("cats/x.png") && Contains("chunk IEND is missing"));
}

TEST_CASE("one wrong bit in a PNG is an error with file and chunk") {
  CHECK(png_checksum(Bytes{'1', '2', '3', '4', '5', '6', '7', '8', '9'}) == 0xCBF43926);
  const Bytes whole = png({19, 13, 3, test::pattern(std::size_t{19} * 13 * 3, 4)});
  CHECK_FALSE(find_png_fault(whole).has_value());
  CHECK_FALSE(find_png_fault(jpeg(plain(4, 4, {7}))).has_value());
  const auto error_at_bit = [&](std::size_t byte, int bit) {
    Bytes bytes = whole;
    bytes[byte] = static_cast<std::uint8_t>(bytes[byte] ^ 1 << bit);
    return error_with(bytes, "x.png");
  };
  constexpr std::size_t kHeight = 23;  // the lowest byte in IHDR
  CHECK_THAT(error_at_bit(kHeight, 0),
             Contains("cats/x.png") && Contains("chunk IHDR at byte 8 is damaged"));
  for (const std::size_t byte : {whole.size() / 2, whole.size() - 17}) {  // data, its check sum
    CHECK_THAT(error_at_bit(byte, 3),
               Contains("cats/x.png") && Contains("chunk IDAT at byte 33 is damaged"));
  }
  CHECK_THAT(error_at_bit(whole.size() - 1, 7), Contains("chunk IEND at byte"));
}

TEST_CASE("image bombs are refused before memory is spent on them") {
  CHECK_THAT(error_with(png_header(60000, 60000, 8, 2), "x.png"),
             Contains("cats/x.png") && Contains("60000x60000"));
  CHECK_THAT(error_with(png_header(8193, 8192, 8, 0), "x.png"), Contains("8193x8192"));
  CHECK_THAT(error_with(png_header(2147483647, 2147483647, 8, 2), "x.png"), Contains("cats/x.png"));
  CHECK_THAT(error_with(png_header(0, 5, 8, 2), "x.png"), Contains("cats/x.png"));
  TemporaryFolder folder;
  folder.write("cats/huge.png", png(plain(2, 2, {1})));
  folder.resize("cats/huge.png", std::uint64_t{1} << 40);
  CHECK_THAT(error_at(config_of(folder.path())), Contains("huge.png") && Contains("bytes"));
}

TEST_CASE("a JPEG with too long a Huffman table is not handed to the decoder") {
  Bytes bytes = jpeg(plain(16, 16, {90, 150, 20}));
  // The encoder writes all tables into one segment: marker, length, class, 16 counts, symbols.
  const Bytes marker = {0xFF, 0xC4};
  const auto tables = std::search(bytes.begin(), bytes.end(), marker.begin(), marker.end());
  REQUIRE(tables != bytes.end());
  CHECK_FALSE(find_jpeg_fault(bytes).has_value());
  tables[5 + 15] = 0xFF;
  tables[5 + 14] = 0xFF;
  CHECK_THAT(error_with(bytes, "x.jpg"), Contains("cats/x.jpg") && Contains("Huffman table"));
  bytes.insert(bytes.begin(), 3, 0xFF);  // the decoder passes over fill bytes
  CHECK_THAT(error_with(bytes, "x.jpg"), Contains("cats/x.jpg") && Contains("Huffman table"));
}

TEST_CASE("thumbnails and data behind the end do not hide that a JPEG is cut") {
  Bytes bytes = jpeg(plain(16, 16, {90, 150, 20}));
  const Bytes thumbnail = {0xFF, 0xE1, 0, 8, 0xFF, 0xD8, 1, 2, 0xFF, 0xD9};
  bytes.insert(bytes.begin() + 2, thumbnail.begin(), thumbnail.end());
  CHECK(decode_image(bytes, "x.jpg", 3).pixels.size() == 768);
  Bytes longer = bytes;
  longer.insert(longer.end(), {0xFF, 0xC4, 0, 0, 5});
  CHECK(decode_image(longer, "x.jpg", 3).pixels.size() == 768);
  bytes.erase(bytes.end() - 2, bytes.end());
  CHECK_THAT(error_with(bytes, "x.jpg"), Contains("truncated"));
}

TEST_CASE("damaged images do no harm") {
  Picture picture{19, 13, 3, test::pattern(std::size_t{19} * 13 * 3, 4)};
  for (const Bytes& whole : {png(picture), jpeg(picture), bmp(picture)}) {
    for (std::size_t i = 0; i < whole.size(); i += i < 100 ? 1 : 7) {
      Bytes changed = whole;
      changed[i] = static_cast<std::uint8_t>(changed[i] ^ (1 + i * 37 % 255));
      Bytes cut(whole.begin(), whole.begin() + static_cast<long>(i));
      for (const Bytes& bytes : {changed, with_checksums(changed), cut}) {
        try {
          const Image image = decode_image(bytes, "fuzzed", 3);
          REQUIRE(image.pixels.size() == static_cast<std::size_t>(image.height * image.width * 3));
        } catch (const Error& error) {
          REQUIRE_THAT(error.what(), Contains("'fuzzed'"));
        }
      }
    }
  }
}

TEST_CASE("palettes are looked up") {
  const Bytes colors = {10, 20, 30, 255, 0, 0};
  const Image image = decode_image(png_palette(colors, {1, 0, 1}), "p.png", 3);
  CHECK(image.pixels == Bytes{255, 0, 0, 10, 20, 30, 255, 0, 0});
  CHECK(decode_image(png_palette(colors, {1}), "p.png", 1).pixels == Bytes{77});
}

TEST_CASE("a CMYK JPEG is refused with what to do") {
  Bytes bytes = jpeg(plain(16, 16, {90, 150, 20}));
  const Bytes marker = {0xFF, 0xC0};
  const auto frame = std::search(bytes.begin(), bytes.end(), marker.begin(), marker.end());
  REQUIRE(frame != bytes.end());
  REQUIRE(frame[9] == 3);  // components: marker, length, precision, height and width come before
  frame[9] = 4;
  CHECK_THAT(error_with(bytes, "x.jpg"),
             Contains("cats/x.jpg") && Contains("CMYK") && Contains("save it as RGB"));
}

}  // namespace acgan
