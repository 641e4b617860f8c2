#include <catch2/catch.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/judged_run.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

using nlohmann::json;

// Sums over features may differ in their last digit with where the memory for them lies.
void check_same_figures(const json& one, const json& other) {
  const json left = one.flatten(), right = other.flatten();
  REQUIRE(left.size() == right.size());
  for (const auto& [name, value] : left.items()) {
    CAPTURE(name);
    REQUIRE(right.contains(name));
    if (value.is_number_float()) {
      CHECK(right[name].get<double>() == Approx(value.get<double>()).epsilon(1e-9).margin(1e-12));
    } else {
      CHECK(right[name] == value);
    }
  }
}

}  // namespace

TEST_CASE("a run is judged while it trains, and its checkpoint gets the same figures") {
  const JudgedRun tiny;
  // A dry run checks the data for it and writes nothing, not even the cache.
  REQUIRE(tiny.run({"-c", "tiny.yaml", "--evaluate-every", "30s", "-n"}).exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(tiny.path("cache")));
  const ProgramResult trained = tiny.run({"-c", "tiny.yaml", "--evaluate-every", "30s"});
  CAPTURE(trained.err);
  REQUIRE(trained.exit_code == 0);
  CHECK_THAT(trained.out, Catch::Contains("quality: class accuracy "));
  const std::string file = tiny.run_path() + "/metrics.jsonl";
  REQUIRE(tiny.metrics(file).size() == 1);  // at the end

  const ProgramResult judged = tiny.evaluate({"--checkpoint", tiny.run_path(), "--threads", "1"});
  CAPTURE(judged.err);
  REQUIRE(judged.exit_code == 0);
  CHECK(judged.err.empty());
  CHECK_THAT(judged.out, Catch::Contains("feature net: from ") &&
                             Catch::Contains("frechet distance") && Catch::Contains("house") &&
                             Catch::Contains("written: "));
  const std::vector<json> lines = tiny.metrics(file);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["source"] == "training");
  CHECK_THAT(lines[1]["source"].get<std::string>(), Catch::Contains("step_000003.safetensors"));
  for (const char* name : {"step", "samples", "class_accuracy", "frechet", "kid", "precision",
                           "recall", "diversity", "floor", "feature_net", "data", "classes"}) {
    CAPTURE(name);
    check_same_figures(lines[0][name], lines[1][name]);
  }
  CHECK(lines[0]["step"] == 3);
  CHECK(lines[0]["weights"] == "live");
  CHECK(lines[1]["weights"] == "live");
  CHECK(lines[0]["samples"] == 5000);
  CHECK(lines[0]["references"] == 36);
  CHECK(lines[0]["data"]["generator_saw_held_out"] == false);
  CHECK(json::parse(read_text(tiny.path(tiny.run_path() + "/summary.json")))["evaluating_seconds"] >
        0);

  // A resumed run goes on behind what it had; lines of steps that are run again go.
  REQUIRE(
      tiny.run({"-c", "tiny.yaml", "--evaluate-every", "30s", "--resume", "latest", "--steps", "5"})
          .exit_code == 0);
  REQUIRE(tiny.metrics(file).size() == 3);
  CHECK(tiny.metrics(file)[2]["step"] == 5);
}

TEST_CASE("evaluate judges another program's images by the same ruler") {
  const JudgedRun tiny;
  REQUIRE(tiny.run({"-c", "tiny.yaml"}).exit_code == 0);
  REQUIRE(tiny.run({"sample", "--checkpoint", tiny.run_path(), "--rows", "4", "--out", "a.npy"})
              .exit_code == 0);
  const ProgramResult plain =
      tiny.evaluate({"--images", "a.npy", "-c", "tiny.yaml", "--out", "m.jsonl"});
  CAPTURE(plain.err);
  REQUIRE(plain.exit_code == 0);
  CHECK_THAT(plain.out, Catch::Contains("labels are not known"));

  std::filesystem::create_directory(tiny.path("pictures"));
  for (const char* name : {"fish", "house", "cup"}) {
    const std::string folder = std::string("pictures/") + name;
    REQUIRE(tiny.run({"sample", "--checkpoint", tiny.run_path(), "--rows", "4", "--class", name,
                      "--singles", "--out", folder})
                .exit_code == 0);
  }
  REQUIRE(
      tiny.evaluate({"--images", "pictures", "-c", "tiny.yaml", "--out", "m.jsonl"}).exit_code ==
      0);
  const std::vector<json> lines = tiny.metrics("m.jsonl");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["samples"] == 12);
  CHECK(lines[0]["class_accuracy"].is_null());
  CHECK(lines[0]["step"].is_null());
  CHECK(lines[0]["weights"].is_null());
  CHECK(lines[1]["class_accuracy"].is_number());
  // The same twelve images in another order.
  CHECK(lines[1]["frechet"].get<double>() == Approx(lines[0]["frechet"].get<double>()));
  CHECK(lines[1]["precision"] == lines[0]["precision"]);
  CHECK(lines[1]["feature_net"] == lines[0]["feature_net"]);
}

TEST_CASE("what cannot be judged has its exit code and one line on stderr") {
  const JudgedRun tiny;
  REQUIRE(tiny.run({"-c", "tiny.yaml"}).exit_code == 0);
  write_text(tiny.path("file"), "no checkpoint");
  const std::string run = tiny.run_path();
  struct Case {
    int exit_code;
    std::vector<std::string> arguments;
    std::string part;
  };
  const Case cases[] = {
      {5, {"--checkpoint", "missing"}, "missing"},
      {5, {"--checkpoint", "file"}, "file"},
      {5, {"--checkpoint", run, "--out", "none/m.jsonl"}, "none/m.jsonl"},
      {5, {"--checkpoint", run, "--out", "runs"}, "Is a directory"},
      {3, {"--checkpoint", run, "--set", "data.classes=[fish, house]"}, "draws the classes"},
      {3, {"--checkpoint", run, "--set", "data.image_size=12"}, "draws images 8x8x1"},
      {3, {"--checkpoint", run, "--set", "data.kind=quickdraw", "--data", "none"}, "none"},
      {3, {"--checkpoint", run, "--set", "data.doodles_per_class=2"}, "are needed to compare"},
      {2, {"--checkpoint", run, "--samples", "3"}, "--samples must be"},
      {2, {"--checkpoint", run, "--device", "gpu"}, "train.device must be"},
      {3, {"--images", "none.npy", "-c", "tiny.yaml"}, "none.npy"},
      {2, {"--images", "runs", "--labels", "y.npy", "-c", "tiny.yaml"}, "--labels belongs to"},
  };
  for (const Case& failing : cases) {
    const ProgramResult result = tiny.evaluate(failing.arguments);
    CAPTURE(failing.part, result.out, result.err);
    CHECK(result.exit_code == failing.exit_code);
    const std::size_t begin = result.err.rfind("acgan-train: error: ");
    REQUIRE(begin != std::string::npos);
    CHECK_THAT(result.err.substr(begin), Catch::Contains(failing.part));
    CHECK(result.err.find('\n', begin) == result.err.size() - 1);
  }
  CHECK_FALSE(std::filesystem::exists(tiny.path(run + "/metrics.jsonl")));

  // Other images than those it was trained on: figures, with a warning.
  const ProgramResult other =
      tiny.evaluate({"--checkpoint", run, "--set", "data.doodles_per_class=13", "--samples", "30"});
  CHECK(other.exit_code == 0);
  CHECK_THAT(other.err, Catch::Contains("was not trained on exactly these images"));
  CHECK_THAT(other.out, Catch::Contains("is not known"));
}

}  // namespace acgan::test
