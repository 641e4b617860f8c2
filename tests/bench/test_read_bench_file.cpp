#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "bench/bench_files.h"
#include "bench/bench_samples.h"
#include "bench/read_bench_file.h"
#include "bench/report.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

const char* const kPng = "\x89PNG\r\n\x1a\nrest";

BenchDocument whole_document() {
  BenchDocument document{.context = sample_context(),
                         .result = {.rows = {measured_row(), refused_row()}, .ended = "done"},
                         .after = {}};
  BenchRow& row = document.result.rows.front();
  row.cost = BenchCost{.price_per_hour = 0.35,
                       .per_1000_images = 1e-5,
                       .per_million_images = 0.01,
                       .per_million_batches = 118};
  row.timed = TimedTraining{.minutes = 7, .batches = 10, .images = 640, .cost = 0.25};
  return document;
}

// The file with one change.
template <typename Change>
std::string changed(const TemporaryFolder& folder, const Change& change) {
  auto json = nlohmann::json::parse(bench_json(whole_document()));
  change(json);
  write_text(folder / "bench.json", json.dump());
  return folder / "bench.json";
}

}  // namespace

TEST_CASE("bench.json is read back as it was written") {
  const TemporaryFolder folder;
  const BenchDocument written = whole_document();
  write_bench_files(folder.path(), written);
  const BenchDocument read = read_bench_file(folder / "bench.json");
  CHECK(bench_json(read) == bench_json(written));
  CHECK(bench_csv(read.result.rows) == bench_csv(written.result.rows));
  CHECK(read.result.rows[0].timed->cost == 0.25);
  CHECK_FALSE(read.result.rows[1].cost);
  CHECK_FALSE(read.result.rows[1].is_measured());
}

TEST_CASE("after.json is read back with the pictures beside it") {
  const TemporaryFolder folder;
  BenchDocument written{.context = sample_context(), .result = {}, .after = sample_after()};
  written.result.ended = "done";
  written.after.figures = {{"figure_4_07m00s.png", kPng}};
  write_after_file(folder.path(), written);
  CHECK_THROWS_WITH(read_bench_file(folder / "after.json"),
                    Catch::Contains("figure_4_07m00s.png") && Catch::Contains("No such file"));
  write_text(folder / "figure_4_07m00s.png", "no picture");
  CHECK_THROWS_WITH(read_bench_file(folder / "after.json"), Catch::Contains("is no PNG"));
  write_text(folder / "figure_4_07m00s.png", kPng);
  const BenchDocument read = read_bench_file(folder / "after.json");
  CHECK(bench_json(read) == bench_json(written));
  CHECK(read.after.figures == written.after.figures);
  CHECK(std::isnan(read.after.rows[1].g_loss));
}

TEST_CASE("a bench.json that is none, or of another version, is one sentence") {
  using Json = nlohmann::json;
  const TemporaryFolder folder;
  const auto message_of = [&](const auto& change) {
    const std::string path = changed(folder, change);
    try {
      read_bench_file(path);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Usage);
      CHECK_THAT(error.what(), Catch::Contains(path));
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  CHECK_THAT(message_of([](Json& j) { j["version"] = 2; }),
             Catch::Contains("has version 2 of the format, this program reads version 1"));
  CHECK_THAT(message_of([](Json& j) { j.erase("version"); }), Catch::Contains("version null"));
  CHECK_THAT(message_of([](Json& j) { j["format"] = "x"; }), Catch::Contains("is no bench.json"));
  CHECK_THAT(message_of([](Json& j) { j = Json::array(); }), Catch::Contains("is no bench.json"));
  CHECK_THAT(message_of([](Json& j) { j["rows"] = 3; }),
             Catch::Contains("rows: expected a list, found 3"));
  CHECK_THAT(message_of([](Json& j) { j["rows"] = Json::array(); }),
             Catch::Contains("has no rows"));
  CHECK_THAT(message_of([](Json& j) { j["rows"][0] = "x"; }),
             Catch::Contains("rows[0]: expected an object, found \"x\""));
  CHECK_THAT(message_of([](Json& j) { j["rows"][0]["median_ms"] = "fast"; }),
             Catch::Contains("rows[0].median_ms") && Catch::Contains("\"fast\""));
  CHECK_THAT(message_of([](Json& j) { j["rows"][0]["median_ms"] = -1; }),
             Catch::Contains("times above 0"));
  CHECK_THAT(message_of([](Json& j) { j["rows"][0]["median_ms"] = nullptr; }),
             Catch::Contains("rows[0].median_ms"));
  CHECK_THAT(message_of([](Json& j) { j["rows"][0]["batch"] = Json::object(); }),
             Catch::Contains("rows[0].batch"));
  CHECK_THAT(message_of([](Json& j) { j["rows"][1].erase("note"); }),
             Catch::Contains("rows[1].note: expected a value, found null"));
  CHECK_THAT(message_of([](Json& j) { j["machine"].erase("device"); }),
             Catch::Contains("device: expected a text, found null"));
  CHECK_THAT(message_of([](Json& j) {
               j["after"] = {{"batch", 1},
                             {"class_names", Json::array()},
                             {"quality_note", ""},
                             {"rows", Json::array()},
                             {"figures", {"../../etc/passwd.png"}}};
             }),
             Catch::Contains("expected names of PNG files beside it"));
  write_text(folder / "broken.json", std::string(100000, '['));
  CHECK_THROWS_WITH(read_bench_file(folder / "broken.json"), Catch::Contains("expected JSON"));
  CHECK_THROWS_WITH(read_bench_file(folder / "missing.json"), Catch::Contains("cannot read"));
  CHECK_THROWS_WITH(read_bench_file(folder.path()), Catch::Contains("cannot read"));
}

TEST_CASE("a report holds the figures of all machines and stands alone") {
  const TemporaryFolder folder;
  BenchDocument first = whole_document(), second = whole_document();
  second.context.machine.device = second.result.rows[0].device = "Other <GPU>";
  second.result.rows[0].cost.reset();
  BenchDocument third{.context = sample_context(), .result = {}, .after = sample_after()};
  third.after.figures = {{"figure_4_07m00s.png", kPng}};
  const auto names = write_report(folder / "report", {first, second, third});
  CHECK(names.back() == "report.html");
  for (const char* name :
       {"figure_1_batch_time.svg", "figure_1_batch_time.png", "figure_2_time_per_1000_images.svg",
        "figure_2_time_per_1000_images.png", "figure_3_cost_per_million_batches.svg",
        "figure_3_cost_per_million_batches.png", "figure_4_07m00s.png", "bench.csv",
        "report.html"}) {
    CAPTURE(name);
    CHECK(std::filesystem::file_size(folder / std::string("report/").append(name)) > 10);
    CHECK(std::ranges::count(names, name) == 1);
  }
  const std::string html = read_text(folder / "report/report.html");
  CHECK_THAT(html, Catch::Contains("Other &lt;GPU&gt;") && !Catch::Contains("<GPU>"));
  CHECK_THAT(html, Catch::Contains("acgan-train bench -c x.yaml") && Catch::Contains("batch: 64"));
  CHECK_THAT(html, Catch::Contains("0.50x the speed of fp32") && Catch::Contains("118"));
  CHECK_THAT(html, Catch::Contains("fakes classified right") && Catch::Contains("80.0%"));
  const std::string csv = read_text(folder / "report/bench.csv");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);
  // Only where there is a price.
  CHECK_THAT(read_text(folder / "report/figure_3_cost_per_million_batches.svg"),
             Catch::Contains("16 GiB") && !Catch::Contains("Other"));
}

TEST_CASE("a report folder that cannot be written is known before anything is measured") {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  CHECK_THROWS_WITH(check_report_folder(folder / "file/x"), Catch::Contains("file"));
  std::filesystem::create_directories(folder / "taken/report.html");
  CHECK_THROWS_WITH(check_report_folder(folder / "taken"), Catch::Contains("--report"));
  check_report_folder(folder / "new/report");
  CHECK(folder.count() == 2);
}

}  // namespace acgan::test
