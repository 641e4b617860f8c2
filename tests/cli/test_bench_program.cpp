#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>

#include "base/format.h"
#include "cli/program.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

namespace fs = std::filesystem;

const char* const kTinyConfig = R"(
data: {kind: doodles, image_size: 8, doodles_per_class: 3}
model: {latent_dim: 3, dense_width: 8, conv1_width: 4, conv2_width: 6, classifier_width: 5}
train: {batch: 4, seed: 5, device: cpu, threads: 1}
)";

// A folder with that config, where the program measures for milliseconds.
class TinyBench {
 public:
  TinyBench() { write_text(folder_ / "tiny.yaml", kTinyConfig); }

  const TemporaryFolder& folder() const { return folder_; }
  ProgramResult run(std::vector<std::string> options) const {
    options.insert(options.begin(), {"bench", "-c", "tiny.yaml", "--max-seconds", "0.05"});
    return run_program(folder_.path(), options);
  }
  bool has(const std::string& path) const { return fs::exists(folder_ / path); }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("bench prints a table and writes its two files") {
  const TinyBench bench;
  const ProgramResult result = bench.run({"--batch", "4,60000", "--half", "fp16,bf16",
                                          "--price-per-hour", "0.35", "--for-minutes", "7"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, Catch::Contains("USD/million batches") && Catch::Contains("0.0408"));
  CHECK_THAT(result.out, Catch::Contains("speedup_vs_fp32") && Catch::Contains("mixed bf16") &&
                             Catch::Contains("exceeds the data set"));
  const std::string csv = read_text(bench.folder() / "bench/bench.csv");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 7);
  CHECK_THAT(read_text(bench.folder() / "bench/bench.json"),
             Catch::Contains("acgan-train bench -c tiny.yaml"));
}

TEST_CASE("bench takes the 16-bit type of the config and prints the seed that it drew") {
  const TinyBench bench;
  const ProgramResult result =
      bench.run({"--set", "precision.half=bf16", "--seed", "random", "--precision", "mixed"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Catch::Contains("mixed bf16") && !Catch::Contains("mixed fp16"));
  CHECK_THAT(result.out, Catch::Contains("seed: ") && !Catch::Contains("seed: random"));
  CHECK_THAT(read_text(bench.folder() / "bench/bench.json"), !Catch::Contains("seed: random"));
}

TEST_CASE("bench --floors and --profile print tables and write nothing") {
  const TinyBench bench;
  const ProgramResult floors = bench.run({"--floors", "--batch", "4,1024", "--peak", "T4,H200"});
  CAPTURE(floors.err);
  CHECK(floors.exit_code == 0);
  CHECK_THAT(floors.out, Catch::Contains("batch 1024, mixed fp16") &&
                             Catch::Contains("discriminator.conv1") && Catch::Contains("H200 us"));
  const ProgramResult profile = bench.run({"--profile"});
  CHECK(profile.exit_code == 0);
  CHECK_THAT(profile.out, Catch::Contains("generator.deconv3") && Catch::Contains("batch norm") &&
                              Catch::Contains("faster") && Catch::Contains("G and Q") &&
                              Catch::Contains("logging"));
  CHECK_FALSE(bench.has("bench"));
}

TEST_CASE("bench draws a report, and one of several results") {
  const TinyBench bench;
  const ProgramResult sweep =
      bench.run({"--batch", "4,6", "--price-per-hour", "1", "--report", "my report"});
  CAPTURE(sweep.err);
  REQUIRE(sweep.exit_code == 0);
  CHECK(bench.has("my report/report.html"));
  CHECK(bench.has("my report/figure_3_cost_per_million_batches.svg"));
  const ProgramResult after = bench.run({"--after", "0.2s,0.1s", "--outdir", "later"});
  CAPTURE(after.err);
  REQUIRE(after.exit_code == 0);
  CHECK_THAT(after.out, Catch::Contains("mixed fp16") && Catch::Contains("steps"));
  for (const char* file : {"later/after.json", "later/grid_fp32_00m0.1s.png",
                           "later/grid_mixed_fp16_00m0.2s.png", "later/figure_4_00m0.2s.png"}) {
    CAPTURE(file);
    CHECK(bench.has(file));
  }
  const ProgramResult merge =
      run_program(bench.folder().path(),
                  {"bench", "--merge", "bench/bench.json", "later/after.json", "--report", "both"});
  CAPTURE(merge.err);
  REQUIRE(merge.exit_code == 0);
  CHECK_THAT(read_text(bench.folder() / "both/report.html"),
             Catch::Contains("All figures") && Catch::Contains("After the same time"));
}

TEST_CASE("what --after trained to no end is said by exit code 4, beside its files") {
  const TinyBench bench;
  const ProgramResult result =
      bench.run({"--after", "0.5s", "--precision", "fp32", "--set", "optimizer.learning_rate=1e30",
                 "--set", "precision.max_consecutive_skips=2"});
  CAPTURE(result.out);
  CHECK(result.exit_code == 4);
  CHECK_THAT(result.err, Catch::Contains("fp32 went non-finite"));
  CHECK_THAT(read_text(bench.folder() / "bench/after.json"),
             Catch::Contains("\"quality_frechet\": null"));
}

TEST_CASE("bench --merge refuses other files in one sentence and writes nothing") {
  const TinyBench bench;
  write_text(bench.folder() / "old.json",
             R"({"format": "acgan-train bench", "version": 7, "rows": []})");
  const auto merge = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "bench");
    return run_program(bench.folder().path(), options);
  };
  const ProgramResult old = merge({"--merge", "old.json", "--report", "r"});
  CHECK(old.exit_code == 2);
  CHECK_THAT(old.err, Catch::Contains("old.json has version 7"));
  CHECK(merge({"--merge", "tiny.yaml", "--report", "r"}).exit_code == 2);
  REQUIRE(bench.run({}).exit_code == 0);
  const ProgramResult twice =
      merge({"--merge", "bench/bench.json", "bench/bench.json", "--report", "r"});
  CHECK(twice.exit_code == 2);
  CHECK_THAT(twice.err, Catch::Contains("holds the same result as a file before it"));
  CHECK(merge({"--merge", "old.json"}).exit_code == 2);
  CHECK(merge({"--merge", "old.json", "--report", "tiny.yaml/r"}).exit_code == 5);
  CHECK_FALSE(bench.has("r"));
}

TEST_CASE("bench refuses what cannot work before it measures, and leaves nothing behind") {
  const TinyBench bench;
  write_text(bench.folder() / "file", "");
  struct Case {
    int exit_code;
    std::vector<std::string> options;
    std::string part;
  };
  const Case cases[] = {
      {2, {"--batch", "4,x"}, "--batch must be"},
      {2, {"--set", "train.bacth=4"}, "did you mean 'train.batch'?"},
      {2, {"--prices", "tiny.yaml"}, "tiny.yaml:2: expected a list of prices"},
      {3, {"--set", "data.kind=quickdraw", "--data", "missing"}, "missing"},
      {3, {"--batch", "60000"}, "no batch size could be measured"},
      {5, {"--outdir", "file/x"}, "file"},
      {6, {"--device", "cuda"}, "cuda"},
  };
  for (const Case& failing : cases) {
    const ProgramResult result = bench.run(failing.options);
    CAPTURE(failing.part, result.err);
    CHECK(result.exit_code == failing.exit_code);
    CHECK_THAT(result.err,
               Catch::StartsWith("acgan-train: error: ") && Catch::Contains(failing.part));
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    CHECK_FALSE(bench.has("bench"));
  }
}

TEST_CASE("SIGINT ends bench in order with what was measured") {
  const TinyBench bench;
  Program program(bench.folder().path(),
                  {"bench", "-c", "tiny.yaml", "--batch", "4,6", "--min-seconds", "0.01",
                   "--max-seconds", "600", "--spread", "0"});
  REQUIRE(program.wait_for("measuring"));
  REQUIRE(program.wait_for("batch 4:  fp32"));  // the first line of progress
  program.signal(SIGINT);
  const ProgramResult result = program.finish();
  CAPTURE(result.err);
  CHECK(result.exit_code == 130);
  const std::string csv = read_text(bench.folder() / "bench/bench.csv");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
  CHECK_THAT(csv, Catch::Contains("SIGINT"));
  CHECK_THAT(read_text(bench.folder() / "bench/bench.json"),
             Catch::Contains("\"ended\": \"SIGINT\""));
}

}  // namespace acgan::test
