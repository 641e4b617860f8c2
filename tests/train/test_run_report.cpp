#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>

#include "base/format.h"
#include "run/sample_grid.h"
#include "run/timing_log.h"
#include "support/temporary_folder.h"
#include "train/best_evaluation.h"
#include "train/run_report.h"

namespace acgan::test {

namespace {

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

struct ReportedRun {
  TemporaryFolder folder;
  ReportedRun() { std::filesystem::create_directory(folder / "checkpoints"); }
  RunDirectory open() const { return RunDirectory::open(folder.path()); }
  void add_steps(float loss_scale) const {
    TimingLog log(folder / "timing.csv", 0);
    for (std::int64_t step = 1; step <= 50; ++step) {
      const auto value = static_cast<float>(step);
      log.add({.step = step,
               .images = step,
               .elapsed_seconds = static_cast<double>(step),
               .batch_ms = 10,
               .images_per_second = 100,
               .d_loss = step == 20 ? std::numeric_limits<float>::quiet_NaN() : 1 / value,
               .g_loss = value,
               .q_loss = 0,
               .loss_scale = {loss_scale, loss_scale, 2 * loss_scale}});
    }
  }
};

}  // namespace

TEST_CASE("a report has the curves, images, summary and config of its run") {
  const ReportedRun run;
  run.add_steps(1024);
  write_text(run.folder / "config.yaml", "data: <doodles>\n");
  write_text(run.folder / "summary.json", "{\"steps\": 50, \"device\": \"a & b\"}\n");
  write_text(run.folder / "metrics.jsonl",
             "{\"step\":10,\"elapsed_s\":10,\"frechet\":7,\"precision\":0.5,\"floor\":{\"frechet\":"
             "1}}\n{\"step\":20,\"elapsed_s\":20,\"frechet\":5,\"precision\":0.6}\n");
  const RunDirectory directory = run.open();
  write_png(directory.fakes_init_file(), {.height = 1, .width = 1, .channels = 1, .pixels = {9}});
  write_png(directory.reals_file(), {.height = 1, .width = 1, .channels = 1, .pixels = {8}});
  write_run_report(directory);
  const std::string page = read_text(run.folder / "report.html");
  CHECK(count_of("<picture>", page) == 5);  // losses, scales, speed, distance, shares
  CHECK(count_of("data:image/png", page) == 2);
  CHECK_THAT(page, Catch::Contains("fakes_init.png, the newest grid") &&
                       Catch::Contains("a &amp; b") && Catch::Contains("data: &lt;doodles&gt;") &&
                       Catch::Contains("50 points"));
  CHECK_THAT(page, !Catch::Contains("<script") && !Catch::Contains("http://www.example"));
}

TEST_CASE("a report marks the best evaluation on the line of its figure") {
  const ReportedRun run;
  write_text(run.folder / "metrics.jsonl",
             "{\"step\":10,\"elapsed_s\":10,\"frechet\":7,\"recall\":0.5}\n"
             "{\"step\":20,\"elapsed_s\":20,\"frechet\":5,\"recall\":0.6}\n");
  const RunDirectory directory = run.open();
  CHECK_THAT(run_report(directory), !Catch::Contains("best"));
  for (const char* by : {"frechet", "kid", "recall"}) {
    Checkpoint checkpoint;
    checkpoint.set_text("step", "20");
    mark_best({.by = by, .value = 0.25, .step = 20, .ruler = "r"}, checkpoint);
    checkpoint.save(directory.best_file());
    const std::string page = run_report(directory);
    CHECK_THAT(page, Catch::Contains(fmt::format("Best {}: 0.25 at step 20, kept as", by)));
    CHECK_THAT(page, Catch::Contains(fmt::format("The ring: best {}, step 20.", by)));
  }
  // A step that the figures do not have is named, and nowhere marked.
  Checkpoint checkpoint;
  checkpoint.set_text("step", "30");
  mark_best({.by = "recall", .value = 0.25, .step = 30, .ruler = "r"}, checkpoint);
  checkpoint.save(directory.best_file());
  const std::string page = run_report(directory);
  CHECK_THAT(page, Catch::Contains("at step 30") && !Catch::Contains("The ring"));
}

TEST_CASE("figures of another feature net are in no curve") {
  const ReportedRun run;
  const std::string learnt = "\"frechet\":7,\"feature_net\":{\"id\":\"a\",\"scale\":null}}\n";
  write_text(run.folder / "metrics.jsonl",
             "{\"step\":1,\"elapsed_s\":1," + learnt + "{\"step\":2,\"elapsed_s\":2," + learnt);
  const std::string page = run_report(run.open());
  CHECK_THAT(page, !Catch::Contains("Not shown"));
  write_text(run.folder / "metrics.jsonl",
             "{\"step\":1,\"elapsed_s\":1," + learnt + "{\"step\":2,\"elapsed_s\":2," + learnt +
                 "{\"step\":2,\"elapsed_s\":2,\"frechet\":900,\"feature_net\":{\"id\":\"b\","
                 "\"scale\":\"unit\"},\"floor\":{\"frechet\":1}}\n");
  std::string mixed = run_report(run.open());
  const std::string note = "<p>Not shown: 1 evaluation by another feature net than most.</p>\n";
  REQUIRE(mixed.find(note) != std::string::npos);
  mixed.erase(mixed.find(note), note.size());
  CHECK(mixed == page);
}

TEST_CASE("a report leaves out what a run does not have") {
  const ReportedRun run;
  const std::string empty = run_report(run.open());
  CHECK(count_of("<picture>", empty) == 0);
  CHECK_THAT(empty, Catch::Contains("No step was logged yet") &&
                        Catch::Contains("No sample grid was written yet") &&
                        Catch::Contains("There is no summary"));
  run.add_steps(1);  // fp32: scales that never move say nothing
  write_text(run.folder / "summary.json", "[[[");
  write_text(run.folder / "metrics.jsonl", "{}\n");
  const std::string page = run_report(run.open());
  CHECK(count_of("<picture>", page) == 3);  // the third optimizer scales by 2
}

}  // namespace acgan::test
