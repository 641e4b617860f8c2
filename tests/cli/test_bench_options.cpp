#include <catch2/catch.hpp>

#include "base/error.h"
#include "cli/command_line.h"

namespace acgan::test {

namespace {

using Arguments = std::vector<std::string>;

BenchCommand bench(Arguments options) {
  options.insert(options.begin(), {"bench", "-c", "a.yaml"});
  return std::get<BenchCommand>(parse_command_line(options));
}

std::string refusal(Arguments options) {
  options.insert(options.begin(), {"bench", "-c", "a.yaml"});
  try {
    parse_command_line(options);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Usage);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the defaults of bench") {
  const BenchCommand command = bench({});
  CHECK(command.config_path == "a.yaml");
  CHECK(command.overrides.empty());
  CHECK(command.request.sweep.batches.empty());
  const auto& choices = command.request.sweep.choices;
  REQUIRE(choices.size() == 2);
  CHECK(choices[0].mode == PrecisionMode::Fp32);
  CHECK(choices[1].mode == PrecisionMode::Mixed);
  CHECK(choices[1].half == HalfType::Auto);
  CHECK(command.request.outdir == "bench");
  CHECK(command.request.command == "acgan-train bench -c a.yaml");
}

TEST_CASE("lists of bench keep their order and lose what stands twice") {
  const BenchCommand command =
      bench({"--batch", "512,32,512,2", "--precision", "mixed,fp32", "--half=bf16,fp16"});
  CHECK(command.request.sweep.batches == std::vector<std::int64_t>{512, 32, 2});
  const auto& choices = command.request.sweep.choices;
  REQUIRE(choices.size() == 3);
  CHECK(choices[0].half == HalfType::Bf16);
  CHECK(choices[1].half == HalfType::Fp16);
  CHECK(choices[2].mode == PrecisionMode::Fp32);
}

TEST_CASE("limits of bench, and keys that it passes on") {
  const BenchCommand command =
      bench({"--warmup", "7", "--min-seconds", "0.5", "--max-seconds", "2", "--spread", "0.5",
             "--device", "cpu", "--set", "model.conv1_width=8", "--outdir", "it's here", "-q"});
  const SweepLimits& limits = command.request.sweep.limits;
  CHECK(limits.warmup == 7);
  CHECK(limits.min_seconds == 0.5);
  CHECK(limits.max_seconds == 2);
  CHECK(limits.spread == 0.005);
  REQUIRE(command.overrides.size() == 2);
  CHECK(command.overrides[0].value == "\"cpu\"");
  CHECK(command.overrides[1].key == "model.conv1_width");
  CHECK_THAT(command.request.command, Catch::EndsWith(" --outdir 'it'\\''s here' -q"));
  CHECK(command.verbosity == Verbosity::Quiet);
  // One limit alone moves the other along.
  CHECK(bench({"--max-seconds", "0.1"}).request.sweep.limits.min_seconds == 0.1);
  CHECK(bench({"--min-seconds", "100"}).request.sweep.limits.max_seconds == 100);
}

TEST_CASE("prices of bench") {
  const PriceRequest price = bench({"--price-per-hour", "0.35", "--prices", "p.yaml", "--region",
                                    "here", "--spot", "--for-minutes", "1.5h"})
                                 .request.price;
  CHECK(price.per_hour == 0.35);
  CHECK(price.list == "p.yaml");
  CHECK(price.region == "here");
  CHECK(price.kind == PriceKind::Spot);
  CHECK(price.minutes == 90);
  CHECK_FALSE(bench({}).request.price.per_hour.has_value());
}

TEST_CASE("peaks of bench --floors") {
  CHECK(bench({}).request.mode == BenchMode::Sweep);
  CHECK(bench({"--profile"}).request.mode == BenchMode::Profile);
  const BenchRequest preset = bench({"--floors"}).request;
  CHECK(preset.mode == BenchMode::Floors);
  CHECK(preset.peaks.size() == 4);
  const auto peaks =
      bench({"--floors", "--peak", "H200,P100", "--peak-tflops", "10,5", "--peak-gbs", "100"})
          .request.peaks;
  REQUIRE(peaks.size() == 3);
  CHECK(peaks[0].name == "H200");
  CHECK(peaks[2].tflops_half == 10);
  CHECK(peaks[2].tflops_fp32 == 5);
  CHECK(peaks[2].gbs == 100);
  CHECK(
      bench({"--floors", "--peak-tflops", "10", "--peak-gbs", "1"}).request.peaks[0].tflops_fp32 ==
      10);
}

TEST_CASE("bench refuses rubbish with one sentence") {
  const std::pair<Arguments, std::string> cases[] = {
      {{"--peak", "T4"}, "need --floors"},
      {{"--floors", "--outdir", "x"}, "leave it out"},
      {{"--profile", "--spot"}, "leave the prices out"},
      {{"--batch", "32,abc"}, "--batch must be an integer from 2 to 65536, found 'abc'"},
      {{"--batch", "32,,64"}, "--batch must be an integer from 2 to 65536, found ''"},
      {{"--batch", "1"}, "found '1'"},
      {{"--batch", "32, 64"}, "found ' 64'"},
      {{"--batch", "-8"}, "found '-8'"},
      {{"--precision", "fp32,mixde"}, "did you mean 'mixed'?"},
      {{"--half", "fp8"}, "--half must be a list of auto, fp16, bf16, found 'fp8'"},
      {{"--warmup", "2"}, "--warmup must be an integer from 3"},
      {{"--max-seconds", "soon"}, "--max-seconds must be a number"},
      {{"--max-seconds", "1", "--min-seconds", "2"}, "at least --min-seconds"},
      {{"--max-seconds", "0"}, "above 0"},
      {{"--spread", "101"}, "--spread must be"},
      {{"--peak", "T5"},
       "--peak must be a list of P100, V100, T4, L4, A100, H100, H200, found 'T5'"},
      {{"--peak-tflops", "1"}, "--peak-tflops and --peak-gbs need each other"},
      {{"--peak-tflops", "1,2,3", "--peak-gbs", "1"}, "expected X or X,Y"},
      {{"--peak-tflops", "0", "--peak-gbs", "1"}, "--peak-tflops must be a number"},
      {{"--floors", "--profile"}, "exclude each other"},
      {{"--after", "7", "--floors"}, "exclude each other"},
      {{"--after", "7,soon"}, "--after: expected minutes"},
      {{"--after", "0,7"}, "--after: expected times above 0"},
      {{"--batch", "4", "--set", "train.batch=8"}, "exclude each other"},
      {{"--half", "bf16", "--set", "precision.half=fp16"}, "exclude each other"},
      {{"--set", "precision.mode=fp32"}, "what --precision lists"},
      {{"--after", "7", "--batch", "4,8"}, "one batch size"},
      {{"--after", "7", "--spot"}, "leave the prices out"},
      {{"--merge", "a.json", "--report", "r"}, "leave -c out"},
      {{"--profile", "--report", "r"}, "leave --report out"},
      {{"--report", ""}, "--report must name a folder"},
      {{"--price-per-hour", "-1"}, "--price-per-hour must be a number from 0"},
      {{"--for-minutes", "soon"}, "--for-minutes: expected minutes"},
      {{"--outdir", ""}, "--outdir must name a folder"},
      {{"--minutes", "7"}, "unknown option '--minutes'"},
      {{"--set", "x"}, "--set: expected KEY=VALUE"},
  };
  for (const auto& [options, part] : cases) {
    CAPTURE(part);
    CHECK_THAT(refusal(options), Catch::Contains(part));
  }
  CHECK_THROWS_WITH(parse_command_line({"bench"}), Catch::Contains("expected a config"));
  CHECK_THAT(std::get<PrintCommand>(parse_command_line({"bench", "--help"})).text,
             Catch::Contains("--max-seconds") && Catch::Contains("Config keys"));
}

}  // namespace acgan::test
