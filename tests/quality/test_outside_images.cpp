#include <catch2/catch.hpp>

#include <filesystem>

#include "base/error.h"
#include "quality/outside_images.h"
#include "run/sample_grid.h"
#include "support/temporary_folder.h"

namespace acgan::test {
namespace {

Dataset real_like(std::int64_t side, std::int64_t channels) {
  return {.height = side,
          .width = side,
          .channels = channels,
          .class_names = {"cat", "dog"},
          .images = {},
          .labels = {},
          .description = "made"};
}

// A .npy with this type and shape, its bytes counting up from 0.
void write_array(const std::string& path, const std::string& type, const std::string& shape,
                 std::size_t bytes, const std::string& order = "False") {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize(117, ' ');
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size());
  text += '\0';
  text += header;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(i & 0xFF);
  write_text(path, text);
}

// The message of the Error that loading throws, and that it is of the kind `data`.
std::string refusal(const std::string& images, const std::optional<std::string>& labels,
                    const Dataset& real) {
  try {
    load_outside_images(images, labels, real);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Data);
    return error.what();
  }
  return "accepted";
}

TEST_CASE("images of another program come from a .npy, with or without labels") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy", labels = folder / "y.npy";
  write_array(labels, "<i8", "(2,)", 0);
  std::string text = read_text(labels);
  for (const int label : {1, 0})
    text += std::string(1, static_cast<char>(label)) + std::string(7, '\0');
  write_text(labels, text);
  for (const char* shape : {"(2, 4, 4)", "(2, 4, 4, 1)", "(2, 16)"}) {
    CAPTURE(shape);
    write_array(path, "|u1", shape, 32);
    const OutsideImages images = load_outside_images(path, labels, real_like(4, 1));
    CHECK(images.pixels.size() == 32);
    CHECK(images.pixels[31] == 31);
    CHECK(images.labels == std::vector<std::int32_t>{1, 0});
    CHECK(load_outside_images(path, std::nullopt, real_like(4, 1)).labels.empty());
  }
  write_array(path, "|u1", "(2, 4, 4, 3)", 96);
  CHECK(load_outside_images(path, std::nullopt, real_like(4, 3)).pixels.size() == 96);
}

TEST_CASE("what is no fitting .npy of images or labels is refused in one sentence") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy", labels = folder / "y.npy";
  const Dataset real = real_like(4, 1);
  const auto refused = [&](const char* type, const char* shape, std::size_t bytes,
                           const char* order = "False") {
    write_array(path, type, shape, bytes, order);
    return refusal(path, std::nullopt, real);
  };
  CHECK_THAT(refused("|u1", "(2, 5, 5)", 50), Catch::Contains("(N, 4, 4, 1), were expected"));
  CHECK_THAT(refused("|u1", "(2, 4, 4, 3)", 96), Catch::Contains("(N, 4, 4, 1), were expected"));
  CHECK_THAT(refused("<f4", "(2, 4, 4)", 128), Catch::Contains("elements of type '<f4'"));
  CHECK_THAT(refused("|u1", "(2, 4, 4)", 32, "True"), Catch::Contains("Fortran order"));
  CHECK_THAT(refused("|u1", "(2, 4, 4)", 31), Catch::Contains("hold 32 bytes"));
  CHECK_THAT(refused("|u1", "(2, 4, 4)", 33), Catch::Contains("hold 32 bytes"));
  CHECK_THAT(refused("|u1", "()", 1), Catch::Contains("from 1 to 100000 images"));
  CHECK_THAT(refused("|u1", "(1152921504606846976, 4, 4)", 32),
             Catch::Contains("from 1 to 100000 images"));
  write_text(path, "no array");
  CHECK_THAT(refusal(path, std::nullopt, real), Catch::Contains(path));
  CHECK_THAT(refusal(folder / "none.npy", std::nullopt, real), Catch::Contains("none.npy"));

  write_array(path, "|u1", "(2, 4, 4)", 32);
  write_array(labels, "|u1", "(3,)", 3);
  CHECK_THAT(refusal(path, labels, real), Catch::Contains("shape (2,), was expected"));
  write_array(labels, "<f8", "(2,)", 16);
  CHECK_THAT(refusal(path, labels, real), Catch::Contains("one integer an image"));
  write_array(labels, "<u2", "(2,)", 4);  // 0x0100, 0x0302
  CHECK_THAT(refusal(path, labels, real), Catch::Contains("label for image 0"));
}

TEST_CASE("images of another program come from a folder for each class") {
  const TemporaryFolder folder;
  for (const char* name : {"dog", "cat", "bird"}) {
    std::filesystem::create_directory(folder / name);
    write_png(folder / (std::string(name) + "/1.png"),
              {.height = 8, .width = 8, .channels = 3, .pixels = std::vector<std::uint8_t>(192)});
  }
  const OutsideImages images = load_outside_images(folder.path(), std::nullopt, real_like(4, 1));
  CHECK(images.labels == std::vector<std::int32_t>{0, 1});  // by the real data's classes
  CHECK(images.pixels.size() == 32);
  std::filesystem::remove_all(folder / "cat");
  CHECK_THAT(refusal(folder.path(), std::nullopt, real_like(4, 1)), Catch::Contains("cat"));
  CHECK_THROWS_WITH(load_outside_images(folder.path(), "y.npy", real_like(4, 1)),
                    Catch::Contains("--labels belongs to a .npy"));
}

}  // namespace
}  // namespace acgan::test
