#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "run/checkpoint.h"
#include "run/expect_error.h"
#include "run/safetensors_header.h"
#include "support/shared_dir.h"
#include "support/temporary_folder.h"

namespace acgan {
namespace {

using nlohmann::json;
using test::expect_output_error;
using test::read_text;
using test::TemporaryFolder;
using test::write_text;
using Type = Checkpoint::Type;

// A safetensors file of this header text and data, without padding.
std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + data;
}

std::string header_of(const std::string& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  return file.substr(sizeof length, length);
}

Checkpoint make_checkpoint() {
  Checkpoint checkpoint;
  const std::vector<std::uint8_t> bytes = {1, 2, 3, 4, 5};
  const std::vector<float> floats = {1.0f, -0.0f, std::numeric_limits<float>::quiet_NaN(),
                                     4.5f, 5.0f,  6.0f};
  const std::vector<double> doubles = {1e300, -2.0, 3.0};
  const std::vector<std::uint16_t> halves = {0x3C00, 0x7C00, 0x8001};
  const std::vector<std::int64_t> counts = {-7};
  const std::vector<std::int32_t> labels = {3, -1};
  checkpoint.set("a.bytes", Type::U8, {5}, bytes.data());
  checkpoint.set("b.halves", Type::F16, {3, 1}, halves.data());
  checkpoint.set("c.brains", Type::BF16, {1, 3}, halves.data());
  checkpoint.set("generator.dense1.weight", Type::F32, {2, 3}, floats.data());
  checkpoint.set("labels", Type::I32, {2}, labels.data());
  checkpoint.set("moments", Type::F64, {3, 1, 1}, doubles.data());
  checkpoint.set("none", Type::F32, {4, 0, 2}, nullptr);
  checkpoint.set("step", Type::I64, {}, counts.data());
  checkpoint.set_text("config", "data:\n  path: \"\xC3\xA9\"\n");
  checkpoint.set_text("format_version", "1");
  return checkpoint;
}

void check_equal(const Checkpoint& a, const Checkpoint& b) {
  CHECK(a.texts() == b.texts());
  REQUIRE(a.arrays().size() == b.arrays().size());
  for (const auto& [name, array] : a.arrays()) {
    INFO(name);
    REQUIRE(b.has(name));
    CHECK(array.type == b.at(name).type);
    CHECK(array.shape == b.at(name).shape);
    CHECK(array.bytes == b.at(name).bytes);
  }
}

TEST_CASE("a checkpoint comes back bit for bit, with types, shapes and texts") {
  const TemporaryFolder folder;
  const Checkpoint written = make_checkpoint();
  written.save(folder / "c.safetensors");
  CHECK(folder.count() == 1);
  const Checkpoint read = Checkpoint::load(folder / "c.safetensors");
  check_equal(written, read);
  CHECK(read.source() == folder / "c.safetensors");
  CHECK(read.has_checksum());
  CHECK_FALSE(read.has_text("checksum"));
  CHECK(read.text("format_version") == "1");
  read.save(folder / "again.safetensors");
  CHECK(read_text(folder / "again.safetensors") == read_text(folder / "c.safetensors"));
}

TEST_CASE("an empty checkpoint is a checkpoint") {
  const TemporaryFolder folder;
  Checkpoint().save(folder / "c");
  CHECK(Checkpoint::load(folder / "c").arrays().empty());
  write_text(folder / "bare", file_of("{}", ""));
  CHECK(Checkpoint::load(folder / "bare").texts().empty());
}

TEST_CASE("the layout is safetensors: padded header, widest types first, all aligned") {
  const TemporaryFolder folder;
  const Checkpoint checkpoint = make_checkpoint();
  checkpoint.save(folder / "c");
  const std::string file = read_text(folder / "c");
  const std::string header = header_of(file);
  CHECK(header.front() == '{');
  CHECK(header.size() % 8 == 0);
  const json fields = json::parse(header);
  CHECK(fields["__metadata__"]["checksum"].get<std::string>().size() == 16);
  std::size_t data_bytes = 0;
  for (const auto& [name, array] : checkpoint.arrays()) {
    INFO(name);
    const json& field = fields[name];
    const auto begin = field["data_offsets"][0].get<std::size_t>();
    CHECK(field["shape"].get<std::vector<std::int64_t>>() == array.shape);
    CHECK(field["data_offsets"][1].get<std::size_t>() - begin == array.bytes.size());
    CHECK(begin % size_of(array.type) == 0);
    data_bytes += array.bytes.size();
  }
  CHECK(file.size() == 8 + header.size() + data_bytes);
  CHECK(fields["moments"]["dtype"] == "F64");
  CHECK(fields["c.brains"]["dtype"] == "BF16");
  CHECK(fields["moments"]["data_offsets"][0] == 0);
  CHECK(fields["a.bytes"]["data_offsets"][1] == data_bytes);
  const std::size_t at =
      8 + header.size() + fields["a.bytes"]["data_offsets"][0].get<std::size_t>();
  CHECK(file.substr(at) == "\x01\x02\x03\x04\x05");
}

TEST_CASE("a text that is no UTF-8 does not cost the checkpoint") {
  const TemporaryFolder folder;
  Checkpoint checkpoint;
  checkpoint.set_text("path", "caf\xE9");
  checkpoint.save(folder / "c");
  CHECK(Checkpoint::load(folder / "c").text("path") == "caf\xEF\xBF\xBD");
}

TEST_CASE("what is missing is named with the file") {
  const TemporaryFolder folder;
  make_checkpoint().save(folder / "c");
  const Checkpoint read = Checkpoint::load(folder / "c");
  expect_output_error([&] { read.at("generator.x"); }, {folder / "c", "generator.x"});
  expect_output_error([&] { read.text("seed"); }, {folder / "c", "seed"});
  expect_output_error([&] { Checkpoint().at("x"); }, {"in memory"});
  expect_output_error([&] { Checkpoint::load(folder / "missing"); }, {folder / "missing"});
  expect_output_error([&] { Checkpoint::load(folder.path()); }, {folder.path(), "regular file"});
}

TEST_CASE("setting an array twice keeps the second") {
  Checkpoint checkpoint;
  const float one = 1, two[2] = {2, 3};
  checkpoint.set("x", Type::F32, {1}, &one);
  checkpoint.set("x", Type::F32, {2}, two);
  CHECK(checkpoint.at("x").bytes.size() == 8);
  CHECK_THROWS_AS(checkpoint.set("x", Type::F32, {-1}, two), std::logic_error);
  CHECK_THROWS_AS(checkpoint.set("x", Type::F32, {2}, nullptr), std::logic_error);
  CHECK_THROWS_AS(checkpoint.set_text("checksum", "0"), std::logic_error);
}

TEST_CASE("a failed save leaves the old checkpoint") {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  expect_output_error([&] { make_checkpoint().save(folder / "file/c"); }, {folder / "file/c"});
}

TEST_CASE("a checkpoint cut at any length is refused") {
  const TemporaryFolder folder;
  make_checkpoint().save(folder / "c");
  const std::string file = read_text(folder / "c");
  for (std::size_t length = 0; length < file.size(); length += 7) {
    INFO(length);
    write_text(folder / "cut", file.substr(0, length));
    expect_output_error([&] { Checkpoint::load(folder / "cut"); }, {folder / "cut"});
  }
  write_text(folder / "cut", file.substr(0, file.size() - 1));
  expect_output_error([&] { Checkpoint::load(folder / "cut"); }, {folder / "cut"});
  write_text(folder / "long", file + "x");
  expect_output_error([&] { Checkpoint::load(folder / "long"); }, {folder / "long"});
}

TEST_CASE("one flipped bit is noticed wherever it is") {
  const TemporaryFolder folder;
  const Checkpoint original = make_checkpoint();
  original.save(folder / "c");
  const std::string file = read_text(folder / "c");
  const std::string header = header_of(file);
  const std::size_t padding = header.size() - 1 - header.rfind('}');
  for (std::size_t i = 0; i < file.size(); i += 3) {
    // Blanks after the header mean nothing; any other byte does.
    if (i >= 8 + header.size() - padding && i < 8 + header.size()) continue;
    INFO("byte " << i);
    std::string damaged = file;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    write_text(folder / "damaged", damaged);
    // A new name for "checksum" or "__metadata__" turns the check off and leaves a text or an
    // array that nobody asked for; everything else must be refused.
    try {
      const Checkpoint read = Checkpoint::load(folder / "damaged");
      CHECK_FALSE(read.has_checksum());  // which a resumed run warns of
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Output);
    }
  }
}

struct BadFile {
  const char* what;
  const char* header;
  std::size_t data_bytes;
  const char* words;  // that the error holds
};

const BadFile kBadFiles[] = {
    {"no JSON", "{\"a\":", 0, "no JSON from byte"},
    {"no number that a double holds", "{\"a\":1e999}", 0, "no JSON from byte"},
    {"not UTF-8", "{\"\xFF\":{}}", 0, "no JSON"},
    {"a list", "[]", 0, "no JSON object"},
    {"deep nesting", "{\"a\":[[[[[[[[]]]]]]]]}", 0, "nested"},
    {"an array that is a number", "{\"a\":1}", 0, "no object"},
    {"metadata that is a list", "{\"__metadata__\":[]}", 0, "__metadata__"},
    {"metadata with a number", "{\"__metadata__\":{\"a\":1}}", 0, "no string"},
    {"no dtype", R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "no dtype"},
    {"unknown dtype", R"({"a":{"dtype":"F8","shape":[1],"data_offsets":[0,4]}})", 4, "F8"},
    {"lower case", R"({"a":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}})", 4, "f32"},
    {"no shape", R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "shape"},
    {"negative extent", R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "whole"},
    {"broken extent", R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "whole"},
    {"huge extent", R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,4]}})",
     4, "whole"},
    {"product that overflows to 0",
     R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "F32 ["},
    {"product of 2^62 elements",
     R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0, "F32 ["},
    {"no offsets", R"({"a":{"dtype":"F32","shape":[1]}})", 4, "data_offsets"},
    {"one offset", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4]}})", 4, "data_offsets"},
    {"backward", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "data_offsets"},
    {"past the end", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4, "within 4"},
    {"far past the end",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[9223372036854775806,9223372036854775807]}})",
     4, "within 4"},
    {"too few bytes", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "4 bytes"},
    {"too many bytes", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 8, "8 bytes"},
    {"gap",
     R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
     R"("b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})",
     4, "gap"},
    {"gap at the start", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})", 4, "gap"},
    {"bytes left over", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 4, "follow"},
    {"overlap",
     R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
     R"("b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
     4, "overlap"},
    {"one name twice",
     R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
     R"("a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
     4, "twice"},
    {"one field twice", R"({"a":{"dtype":"U8","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4,
     "twice"},
    {"wrong checksum", R"({"__metadata__":{"checksum":"0000000000000000"}})", 0, "checksum"},
};

TEST_CASE("hostile and broken headers are refused with file and fault") {
  const TemporaryFolder folder;
  for (const BadFile& bad : kBadFiles) {
    INFO(bad.what);
    write_text(folder / "bad", file_of(bad.header, std::string(bad.data_bytes, 'x')));
    expect_output_error([&] { Checkpoint::load(folder / "bad"); }, {folder / "bad", bad.words});
  }
}

TEST_CASE("what is wrong with a header is said in our words, not the parser's") {
  for (const char* header : {"", "{", "{\"a\":", "{\"a\":1e999}", "{\"\xFF\":{}}", "\x01"}) {
    try {
      parse_header(header, 0, "x");
    } catch (const Error& error) {
      CHECK_THAT(error.what(), !Catch::Contains("exception") && !Catch::Contains("syntax error"));
      continue;
    }
    FAIL_CHECK("no Error was thrown");
  }
}

TEST_CASE("a header longer than the file is refused before memory is taken for it") {
  const TemporaryFolder folder;
  std::string file = file_of("{}", "");
  for (const std::uint64_t length : {std::uint64_t{3}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    std::memcpy(file.data(), &length, sizeof length);
    write_text(folder / "bad", file);
    expect_output_error([&] { Checkpoint::load(folder / "bad"); },
                        {folder / "bad", std::to_string(length)});
  }
}

TEST_CASE("a large hostile header ends soon") {
  const TemporaryFolder folder;
  std::string header = "{";
  for (int i = 0; i < 300000; ++i) header += fmt::format("\"n{}\":{{}},", i);
  header.back() = '}';
  write_text(folder / "bad", file_of(header, ""));
  const auto start = std::chrono::steady_clock::now();
  expect_output_error([&] { Checkpoint::load(folder / "bad"); }, {"no dtype"});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  write_text(folder / "deep", file_of(std::string(1000000, '['), ""));
  expect_output_error([&] { Checkpoint::load(folder / "deep"); }, {"nested"});
}

TEST_CASE("files of other programs may have other orders, blanks and no checksum") {
  const TemporaryFolder folder;
  write_text(folder / "c", file_of(R"( { "b" : {"shape":[2], "dtype":"U8", "data_offsets":[4,6]},
      "a":{"data_offsets":[0,4],"dtype":"F32","shape":[],"note":"kept out"},
      "empty":{"dtype":"I64","shape":[0],"data_offsets":[4,4]} }  )",
                                   "abcdef"));
  const Checkpoint read = Checkpoint::load(folder / "c");
  CHECK(read.arrays().size() == 3);
  CHECK_FALSE(read.has_checksum());
  CHECK(read.at("b").bytes == std::vector<std::byte>{std::byte{'e'}, std::byte{'f'}});
  CHECK(read.at("a").shape.empty());
  CHECK(read.at("empty").bytes.empty());
}

TEST_CASE("golden files written by Python are read, and come back the same", "[shared]") {
  const TemporaryFolder folder;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::shared_dir() / "golden")) {
    if (entry.path().extension() != ".safetensors") continue;
    INFO(entry.path());
    const Checkpoint golden = Checkpoint::load(entry.path().string());
    CHECK(golden.has_text("size"));
    golden.save(folder / "copy");
    check_equal(golden, Checkpoint::load(folder / "copy"));
    ++files;
  }
  CHECK(files >= 6);
}

TEST_CASE("values of a golden file are what its description says", "[shared]") {
  const Checkpoint golden =
      Checkpoint::load((test::shared_dir() / "golden/A.inputs.safetensors").string());
  CHECK(golden.text("case") == "A");
  CHECK(golden.at("x_u8").shape == std::vector<std::int64_t>{3, 8, 28, 28, 1});
  CHECK(golden.at("x_u8").type == Type::U8);
  CHECK(golden.at("y").type == Type::I32);
  const Checkpoint::Array& z = golden.at("z");  // multiples of 1/1024 in (-1,1)
  REQUIRE(z.type == Type::F32);
  REQUIRE(z.bytes.size() == 3 * 8 * 100 * sizeof(float));
  std::vector<float> values(z.bytes.size() / sizeof(float));
  std::memcpy(values.data(), z.bytes.data(), z.bytes.size());
  int wrong = 0;
  for (const float value : values) {
    const bool is_right = value > -1 && value < 1 && value * 1024 == std::round(value * 1024);
    wrong += is_right ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(std::ranges::any_of(values, [](float value) { return value != 0; }));
}

}  // namespace
}  // namespace acgan
