#include <catch2/catch.hpp>

#include "cli/tiny_run.h"

// The commands on a run of model.preset resnet32.

namespace acgan::test {
namespace {

constexpr const char* kResidualConfig = R"(
data: {kind: doodles, image_size: 16, doodles_per_class: 3}
model: {preset: resnet32, latent_dim: 3, generator_width: 4, discriminator_width: 6,
        classifier_width: 5}
train: {batch: 4, steps: 3, minutes: 1, seed: 5, device: cpu, threads: 1}
output: {dir: runs, rows: 2, sample_every: 0, report: false}
)";

TEST_CASE("a residual run trains, goes on, draws, exports and repeats itself") {
  const TinyRun tiny;
  write_text(tiny.folder() / "deep.yaml", kResidualConfig);
  const auto succeeds = [&](const std::vector<std::string>& arguments) {
    const ProgramResult result = tiny.run(arguments);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return result.out;
  };
  const std::string plan = succeeds({"-c", "deep.yaml", "--dry-run"});
  CHECK_THAT(plan, Catch::Contains("parameters") && Catch::Contains("peak in use"));
  CHECK_FALSE(tiny.has("runs"));

  succeeds({"-c", "deep.yaml", "--precision", "mixed"});
  succeeds({"-c", "deep.yaml"});
  succeeds({"-c", "deep.yaml", "--resume", "latest", "--steps", "5"});
  CHECK(tiny.has("runs/00001-deep-fp32-batch4/checkpoints/step_000005.safetensors"));
  const std::string deep = "runs/00001-deep-fp32-batch4";
  succeeds({"sample", "--checkpoint", deep, "--out", "images.png"});
  CHECK(tiny.has("images.png"));
  CHECK_THAT(succeeds({"export", "--checkpoint", deep, "--onnx", "deep.onnx"}),
             Catch::Contains("image, float [N,1,16,16]"));
  const std::string written = read_text(tiny.folder() / (deep + "/config.yaml"));
  CHECK_THAT(written, Catch::Contains("preset: resnet32") &&
                          Catch::Contains("generator_width: 4") && !Catch::Contains("dense_width"));
  succeeds({"-c", deep + "/config.yaml", "--outdir", "again", "--steps", "3"});
  succeeds(
      {"bench", "-c", "deep.yaml", "--batch", "4", "--max-seconds", "0.2", "--outdir", "bench"});
  CHECK(tiny.has("bench/bench.json"));
}

TEST_CASE("keys and image sizes of another preset are refused with one sentence") {
  const TinyRun tiny;
  write_text(tiny.folder() / "deep.yaml", kResidualConfig);
  const ProgramResult key = tiny.run({"-c", "deep.yaml", "--set", "model.dense_width=8"});
  CHECK(key.exit_code == 2);
  CHECK_THAT(key.err, Catch::Contains("model.preset resnet32 has no model.dense_width"));
  const ProgramResult size = tiny.run({"-c", "deep.yaml", "--set", "data.image_size=28"});
  CHECK(size.exit_code == 2);
  CHECK_THAT(size.err, Catch::Contains("must be a multiple of 8 for model.preset resnet32"));
  CHECK_FALSE(tiny.has("runs"));
}

}  // namespace
}  // namespace acgan::test
