#include <catch2/catch.hpp>

#include "data/data_files.h"
#include "data/quickdraw.h"

namespace acgan {
namespace {

using Catch::Contains;
using test::Bytes;
using test::error_of;
using test::npy;
using test::npy_dictionary;
using test::npz;
using test::NpzPacking;
using test::pattern;
using test::TemporaryFolder;

constexpr std::size_t kPixels = std::size_t{28} * 28;

Bytes images(int count, int salt = 1) {
  return npy(npy_dictionary(fmt::format("({}, 784)", count)),
             pattern(kPixels * static_cast<std::size_t>(count), salt));
}

Bytes array_of(const char* dtype, const char* shape, std::size_t bytes) {
  return npy(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", dtype, shape),
             Bytes(bytes, 1));
}

Bytes loaded(const Bytes& archive, std::int64_t limit = 0) {
  TemporaryFolder folder;
  folder.write("cat.npz", archive);
  DataConfig config;
  config.kind = DataKind::QuickDraw;
  config.path = folder.path();
  config.limit_per_class = limit;
  return load_quickdraw(config).images;
}

std::string error_with(const Bytes& archive) {
  return error_of(ErrorKind::Data, [&] { loaded(archive); });
}

}  // namespace

TEST_CASE("stored and deflated .npz archives give the images of the array in them") {
  for (const NpzPacking packing : {NpzPacking::Stored, NpzPacking::Deflated}) {
    const Bytes archive = npz({{"arr_0", images(3)}}, packing);
    CHECK(loaded(archive) == pattern(3 * kPixels, 1));
    CHECK(loaded(archive, 2) == pattern(2 * kPixels, 1));
  }
}

TEST_CASE("a .npz archive in Fortran order gives the same images") {
  const Bytes data = pattern(3 * kPixels, 1);
  Bytes columns(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) columns[i % kPixels * 3 + i / kPixels] = data[i];
  const Bytes array = npy("{'descr': '|u1', 'fortran_order': True, 'shape': (3, 784), }", columns);
  CHECK(loaded(npz({{"x", array}})) == data);
  CHECK(loaded(npz({{"x", array}}), 1) == pattern(kPixels, 1));
}

TEST_CASE("of several arrays in a .npz archive the images are taken, and of those train") {
  const Bytes labels = array_of("|u1", "(3,)", 3);
  CHECK(loaded(npz({{"y", labels}, {"x", images(3, 4)}, {"w", array_of("<f8", "(2,)", 16)}})) ==
        pattern(3 * kPixels, 4));
  CHECK(loaded(npz({{"valid", images(1, 1)}, {"train", images(2, 2)}, {"test", images(1, 3)}})) ==
        pattern(2 * kPixels, 2));
  CHECK_THAT(error_with(npz({{"a", images(1)}, {"b", images(2)}})),
             Contains("cat.npz") && Contains("'a' (|u1 (1, 784)), 'b' (|u1 (2, 784))") &&
                 Contains("'train'"));
}

TEST_CASE("a .npz archive without images says what it has and what to do") {
  const Bytes pickled = array_of("|O", "(70000,)", 400);
  CHECK_THAT(error_with(npz({{"test", pickled}, {"train", pickled}, {"valid", pickled}})),
             Contains("cat.npz") && Contains("never unpickled") && Contains(".ndjson"));
  CHECK_THAT(error_with(npz({{"x", array_of("<f4", "(1, 784)", 4 * kPixels)}})),
             Contains("cat.npz', array 'x'") && Contains("'<f4'") && Contains("multiply by 255"));
  CHECK_THAT(error_with(npz({{"x", array_of("<f4", "(1, 784)", 4 * kPixels)},
                             {"y", array_of("|u1", "(1,)", 1)}})),
             Contains("cat.npz") && Contains("'x' (<f4 (1, 784)), 'y' (|u1 (1,))"));
  CHECK_THAT(error_with(npz({})), Contains("cat.npz") && Contains("cannot be read"));
  CHECK_THAT(error_with(npz({{"x", images(1)}, {"x", images(1)}})),
             Contains("cat.npz") && Contains("two arrays named 'x'"));
}

TEST_CASE("what is no .npz archive is told apart") {
  CHECK_THAT(error_with(images(1)), Contains("cat.npz") && Contains("name it .npy"));
  CHECK_THAT(error_with({}), Contains("cat.npz") && Contains("empty"));
  CHECK_THAT(error_with({'<', 'h', 't', 'm', 'l', '>', ' '}),
             Contains("cat.npz") && Contains("does not begin as one does"));
}

TEST_CASE("names in a .npz archive lead nowhere") {
  TemporaryFolder folder;
  folder.write("data/cat.npz", npz({{"../../escaped", images(1)}, {"/tmp\x1B[2J\n", images(1)}}));
  DataConfig config;
  config.kind = DataKind::QuickDraw;
  config.path = folder.path() + "/data";
  const std::string message = error_of(ErrorKind::Data, [&] { load_quickdraw(config); });
  CHECK_THAT(message, Contains("'../../escaped'") && Contains("'/tmp?[2J?'"));
  folder.write("data/cat.npz", npz({{"../../escaped", images(2)}}));
  CHECK(load_quickdraw(config).images == pattern(2 * kPixels, 1));
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/escaped.npy"));
}

TEST_CASE("a .npz archive that is cut or changed anywhere does no harm") {
  for (const NpzPacking packing : {NpzPacking::Stored, NpzPacking::Deflated}) {
    const Bytes whole = npz({{"train", images(2)}}, packing);
    for (std::size_t length = 1; length < whole.size(); length += 13) {
      CHECK_THAT(error_with(Bytes(whole.begin(), whole.begin() + static_cast<long>(length))),
                 Contains("cat.npz"));
    }
    std::size_t refused = 0, tried = 0;
    for (std::size_t i = 0; i < whole.size(); i += 7) {
      Bytes changed = whole;
      changed[i] ^= 0x55;
      ++tried;
      try {
        const Bytes pixels = loaded(changed);
        CHECK(pixels == pattern(2 * kPixels, 1));  // what was changed is a date, say
      } catch (const Error& error) {
        CHECK_THAT(error.what(), Contains("cat.npz"));
        ++refused;
      }
    }
    CHECK(refused > tried / 2);  // the check sum sees what changes a pixel
  }
}

TEST_CASE("a .npz archive that claims too much is refused before memory is taken") {
  const Bytes zeros = npy(npy_dictionary("(100, 784)"), Bytes(100 * kPixels));
  Bytes archive = npz({{"train", zeros}});
  CHECK(loaded(archive) == Bytes(100 * kPixels));
  // Its size before the array and in the directory at the archive's end.
  archive[25] = 0x7F;
  const Bytes mark = {'P', 'K', 1, 2};
  const auto entry = std::search(archive.begin(), archive.end(), mark.begin(), mark.end());
  REQUIRE(entry != archive.end());
  entry[27] = 0x7F;
  CHECK_THAT(error_with(archive), Contains("cat.npz") && Contains("can hold"));
}

}  // namespace acgan
