#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "bench/bench_files.h"
#include "bench/bench_samples.h"
#include "bench/bench_table.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

const char* const kPromised =
    "device,precision,half,tf32,conv,batch,warmup,iterations,median_ms,p10_ms,p90_ms,images_per_s,"
    "peak_mib,skipped,seconds_per_1000,price_per_hour,cost_per_million_batches,speedup_vs_fp32,";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("bench.csv has the promised columns first, and empty cells where nothing is known") {
  const auto lines = lines_of(bench_csv({measured_row(), refused_row()}));
  REQUIRE(lines.size() == 3);
  CHECK_THAT(lines[0], Catch::StartsWith(kPromised));
  CHECK_THAT(lines[1], Catch::StartsWith("\"Some \"\"GPU\"\", 16 GiB\",mixed,fp16,false,"
                                         "handwritten,64,5,10,8,7,9,8000,0,0,0.125,,,0.5,"));
  CHECK_THAT(lines[2], Catch::StartsWith("cpu,fp32,,false,,2048,0,0,,,,,,0,,,,,") &&
                           Catch::EndsWith(",does not fit,\"out of memory\","));
}

TEST_CASE("bench.json says what it is and how to repeat it") {
  const BenchContext context = sample_context();
  const std::string text =
      bench_json({.context = context,
                  .result = {.rows = {measured_row(), refused_row()}, .ended = "done"},
                  .after = {}});
  const auto document = nlohmann::json::parse(text);
  CHECK(document["format"] == "acgan-train bench");
  CHECK(document["version"] == kBenchFormatVersion);
  CHECK(document["command"] == context.command);
  CHECK(document["config"] == context.config);
  CHECK(document["machine"].contains("processor"));
  CHECK(document["price"].is_null());
  REQUIRE(document["rows"].size() == 2);
  CHECK(document["rows"][0]["median_ms"] == 8.0);
  CHECK(document["rows"][0]["batch"] == 64);
  CHECK(document["rows"][0]["price_per_hour"].is_null());
  CHECK(document["rows"][1]["median_ms"].is_null());
  CHECK(document["rows"][1]["ended_by"] == "does not fit");
}

TEST_CASE("the table shows a loss as plainly as a gain, and each note once") {
  BenchRow noted = measured_row();
  noted.note = "no 16-bit units";
  const std::string table = bench_table({noted, noted, refused_row()}, {});
  CHECK_THAT(table, Catch::Contains("speedup_vs_fp32") && Catch::Contains("0.50x"));
  CHECK_THAT(table, Catch::Contains("64 mixed fp16, 64 mixed fp16: no 16-bit units\n"));
  CHECK_THAT(table, Catch::Contains("does not fit") && !Catch::Contains("USD"));
}

TEST_CASE("a folder that cannot be written is known before anything is measured") {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  CHECK_THROWS_AS(check_bench_folder(folder / "file/bench"), Error);
  std::filesystem::create_directories(folder / "taken/bench.csv");
  CHECK_THROWS_WITH(check_bench_folder(folder / "taken"), Catch::Contains("it is a folder"));
  CHECK_THROWS_AS(check_bench_folder("/proc/bench"), Error);
  check_bench_folder(folder / "new/bench");
  check_bench_folder(folder / "other/");
  CHECK(folder.count() == 2);
  write_bench_files(
      folder / "new/bench",
      {.context = {}, .result = {.rows = {measured_row()}, .ended = "done"}, .after = {}});
  CHECK(std::filesystem::exists(folder / "new/bench/bench.json"));
}

}  // namespace acgan::test
