#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "cli/tiny_run.h"
#include "config/load_config.h"
#include "data/nearest_images.h"

namespace acgan::test {

namespace {

constexpr std::size_t kImage = 64;  // bytes

// A trained tiny.yaml, and the program's `sample` on it.
class TrainedRun : public TinyRun {
 public:
  TrainedRun() { REQUIRE(train({}).exit_code == 0); }

  ProgramResult sample(std::vector<std::string> options) const {
    options.insert(options.begin(), {"sample", "--checkpoint", run_path()});
    return run(options);
  }
  // The images' bytes [N,8,8,1], by way of a .npy file.
  std::vector<std::string> images(std::vector<std::string> options) const {
    options.insert(options.end(), {"--out", "images.npy"});
    const ProgramResult result = sample(options);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    std::string bytes = read_text(folder() / "images.npy");
    bytes.erase(0, bytes.find('\n') + 1);
    std::vector<std::string> images;
    for (std::size_t i = 0; i < bytes.size(); i += kImage)
      images.push_back(bytes.substr(i, kImage));
    return images;
  }
  std::string refusal(const std::vector<std::string>& options) const {
    const ProgramResult result = sample(options);
    CHECK(result.exit_code == 2);
    return result.err;
  }
};

}  // namespace

TEST_CASE("walks between latents begin and end at rows of the plain grid") {
  const TrainedRun run;
  const auto plain = run.images({"--classes", "fish,sun", "--rows", "3", "--seed", "4"});
  const std::vector<std::string> options{"--classes",     "fish,sun", "--rows",  "2", "--seed", "4",
                                         "--interpolate", "latents",  "--steps", "5"};
  const auto walks = run.images(options);
  REQUIRE(plain.size() == 6);
  REQUIRE(walks.size() == 20);
  for (std::size_t row = 0; row < 4; ++row) {  // fish and sun from z0 to z1, then from z1 to z2
    CHECK(walks[row * 5] == plain[row]);
    CHECK(walks[row * 5 + 4] == plain[row + 2]);
  }
  // Those between are images of their own.
  CHECK(std::set(walks.begin(), walks.end()).size() > std::set(plain.begin(), plain.end()).size());
  CHECK(run.images(options) == walks);
}

TEST_CASE("walks between classes pass the images of the plain grid") {
  const TrainedRun run;
  const auto plain = run.images({"--classes", "fish,sun,cup", "--rows", "2"});
  const auto walks = run.images(
      {"--classes", "fish,sun,cup", "--rows", "2", "--interpolate", "classes", "--steps", "3"});
  REQUIRE(walks.size() == 10);
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t label = 0; label < 3; ++label) {
      CHECK(walks[row * 5 + 2 * label] == plain[row * 3 + label]);
    }
    CHECK(walks[row * 5 + 1] != walks[row * 5]);
    CHECK(walks[row * 5 + 1] != walks[row * 5 + 2]);
  }
  CHECK_THAT(run.refusal({"--classes", "sun", "--interpolate", "classes"}),
             Catch::Contains("at least two classes"));
  CHECK_THAT(run.refusal({"--rows", "10000", "--interpolate", "latents", "--steps", "1000"}),
             Catch::Contains("100000000 images are more than 1000000"));
}

TEST_CASE("--nearest shows each image beside the training image nearest to it") {
  const TrainedRun run;
  const auto plain = run.images({"--rows", "2"});
  const auto pairs = run.images({"--rows", "2", "--nearest", "pixels"});
  REQUIRE(plain.size() == 20);
  REQUIRE(pairs.size() == 40);
  const Dataset data = load_dataset(load_config(run.folder() / "tiny.yaml", {}).data, 5);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    CHECK(pairs[2 * i] == plain[i]);
    const std::vector<std::uint8_t> fake(plain[i].begin(), plain[i].end());
    const auto nearest = static_cast<std::size_t>(nearest_images(data, fake)[0].index);
    const auto first = data.images.begin() + static_cast<std::ptrdiff_t>(nearest * kImage);
    CHECK(std::equal(pairs[2 * i + 1].begin(), pairs[2 * i + 1].end(), first,
                     [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; }));
  }
  const ProgramResult result = run.sample({"--rows", "2", "--nearest", "pixels"});
  CHECK_THAT(result.out, Catch::Contains("difference from the nearest real image") &&
                             Catch::Contains("the same of 20 real images"));
  CHECK(result.err.empty());
}

TEST_CASE("--nearest looks among the data that it is given, and says when it is another") {
  const TrainedRun run;
  const std::string reals = run.path_in("samples/reals.png");
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directories(run.folder() / ("pictures/" + std::string(name)));
    for (const char* file : {"1.png", "2.png"}) {
      std::filesystem::copy_file(reals, run.folder() / fmt::format("pictures/{}/{}", name, file));
    }
  }
  std::filesystem::copy(run.folder() / "pictures", run.folder() / "others",
                        std::filesystem::copy_options::recursive);
  std::filesystem::remove(run.folder() / "others/b/2.png");
  std::filesystem::copy(run.folder() / "pictures", run.folder() / "classes",
                        std::filesystem::copy_options::recursive);
  std::filesystem::rename(run.folder() / "classes/b", run.folder() / "classes/c");
  const auto on_pictures = [&](std::vector<std::string> options) {
    options.insert(options.begin(),
                   {"sample", "--checkpoint", TinyRun::run_path(1), "--nearest", "pixels"});
    return run.run(options);
  };
  REQUIRE(run.train({"--set", "data.kind=folder", "--set", "data.cache=false", "--set",
                     "data.channels=1", "--data", "pictures"})
              .exit_code == 0);
  CHECK(on_pictures({}).err.empty());
  const ProgramResult other = on_pictures({"--data", "others"});
  CHECK(other.exit_code == 0);
  CHECK_THAT(other.err, Catch::Contains("was not trained on exactly these images"));
  const ProgramResult classes = on_pictures({"--data", "classes"});
  CHECK(classes.exit_code == 3);
  CHECK_THAT(classes.err, Catch::Contains("draws the classes a, b, but the data set") &&
                              Catch::Contains("has a, c: name the data"));
  const ProgramResult missing = on_pictures({"--data", "missing"});
  CHECK(missing.exit_code == 3);
  CHECK_THAT(missing.err, Catch::Contains("missing"));
}

}  // namespace acgan::test
