#include <webp/demux.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "run/sample_grid.h"
#include "support/temporary_folder.h"
#include "train/progress_animation.h"

namespace acgan::test {

namespace {

Picture flat(std::uint8_t value, std::int64_t side) {
  return {.height = side,
          .width = side,
          .channels = 1,
          .pixels = std::vector<std::uint8_t>(static_cast<std::size_t>(side * side), value)};
}

// The first pixel of each frame.
std::vector<int> frames_in(const std::string& path) {
  const std::string file = read_text(path);
  const WebPData data{reinterpret_cast<const std::uint8_t*>(file.data()), file.size()};
  const std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> decoder(
      WebPAnimDecoderNew(&data, nullptr), WebPAnimDecoderDelete);
  REQUIRE(decoder != nullptr);
  std::vector<int> values;
  while (WebPAnimDecoderHasMoreFrames(decoder.get()) != 0) {
    std::uint8_t* rgba = nullptr;
    int until_ms = 0;
    REQUIRE(WebPAnimDecoderGetNext(decoder.get(), &rgba, &until_ms) != 0);
    values.push_back(rgba[0]);
  }
  return values;
}

struct GridFolder {
  TemporaryFolder folder;
  GridFolder() {
    std::filesystem::create_directory(folder / "checkpoints");
    std::filesystem::create_directory(folder / "samples");
  }
  void add(const std::string& name, std::uint8_t value, std::int64_t side = 5) const {
    write_png(folder / ("samples/" + name), flat(value, side));
  }
  AnimationFacts animate() const {
    return write_progress_animation(RunDirectory::open(folder.path()), folder / "x.webp");
  }
};

}  // namespace

TEST_CASE("grids are shown in the order of their steps, the one before training first") {
  const GridFolder grids;
  grids.add("fakes_1000000_99m00s.png", 90);
  grids.add("fakes_000020_00m09s.png", 20);
  grids.add("fakes_init.png", 10);
  grids.add("fakes_000100_00m10s.png", 30);
  grids.add("reals.png", 200);
  grids.add("fakes_x_00m10s.png", 201);
  const AnimationFacts facts = grids.animate();
  CHECK(facts.grids == 4);
  CHECK(facts.frames == 4);
  CHECK(facts.left_out.empty());
  CHECK(frames_in(grids.folder / "x.webp") == std::vector<int>{10, 20, 30, 90});
}

TEST_CASE("grids of another size, or damaged, are left out and told") {
  const GridFolder grids;
  grids.add("fakes_000001_00m01s.png", 1);
  grids.add("fakes_000002_00m02s.png", 2, 6);
  write_text(grids.folder / "samples/fakes_000003_00m03s.png", "no picture");
  grids.add("fakes_000004_00m04s.png", 4);
  const AnimationFacts facts = grids.animate();
  CHECK(facts.frames == 2);
  CHECK_THAT(facts.left_out, Catch::Contains("fakes_000003"));
  CHECK(frames_in(grids.folder / "x.webp") == std::vector<int>{1, 4});
}

TEST_CASE("no grid is an error") {
  const GridFolder grids;
  CHECK_THROWS_WITH(grids.animate(), Catch::Contains("no sample grid"));
}

TEST_CASE("what is left out of many is spread evenly") {
  using Indices = std::vector<std::size_t>;
  CHECK(evenly_chosen(5, 3) == Indices{0, 1, 2});
  CHECK(evenly_chosen(3, 9) == Indices{0, 4, 8});
  CHECK(evenly_chosen(2, 9) == Indices{0, 8});
  CHECK(evenly_chosen(2, 1) == Indices{0});
  CHECK(evenly_chosen(1, 4) == Indices{3});
}

}  // namespace acgan::test
