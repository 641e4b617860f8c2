#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run/expect_error.h"
#include "run/stats_log.h"
#include "run/timing_log.h"
#include "support/temporary_folder.h"

namespace acgan {
namespace {

using nlohmann::json;
using test::expect_output_error;
using test::read_text;
using test::TemporaryFolder;
using test::write_text;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

const std::string kHeader =
    "step,images,elapsed_s,batch_ms,images_per_s,d_loss,g_loss,q_loss,loss_scale_d,loss_scale_g,"
    "loss_scale_q,skipped_d,skipped_g,skipped_q\n";

// While it lives this process writes files of at most so many bytes, as if the disk were full then.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::size_t bytes) : old_handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limited{.rlim_cur = bytes, .rlim_max = old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*old_handler_)(int);
  rlimit old_{};
};

StepRecord make_record(std::int64_t step) {
  return {.step = step,
          .images = step * 64,
          .elapsed_seconds = static_cast<double>(step) * 0.25,
          .batch_ms = 250,
          .images_per_second = 256,
          .d_loss = 1.25f,
          .g_loss = 0.5f,
          .q_loss = 2.0f,
          .accuracy_real = 0.75f,
          .accuracy_fake = 0.5f,
          .loss_scale = {65536, 32768, 16777216},
          .skipped = {0, 1, 2}};
}

// What timing.csv holds after steps 1..n.
std::string timing_of(std::int64_t n) {
  const TemporaryFolder folder;
  TimingLog log(folder / "timing.csv", 0);
  for (std::int64_t step = 1; step <= n; ++step) log.add(make_record(step));
  return read_text(folder / "timing.csv");
}

TEST_CASE("timing.csv has the agreed header and one flushed row a step") {
  const TemporaryFolder folder;
  TimingLog log(folder / "timing.csv", 0);
  CHECK(read_text(folder / "timing.csv") == kHeader);
  log.add(make_record(1));
  const std::string row = "1,64,0.250000,250.0000,256.0,1.25,0.5,2,65536,32768,16777216,0,1,2\n";
  CHECK(read_text(folder / "timing.csv") == kHeader + row);  // while the log is still open

  StepRecord bad = make_record(2);
  bad.d_loss = kNan;
  bad.g_loss = -std::numeric_limits<float>::infinity();
  log.add(bad);
  CHECK(read_text(folder / "timing.csv").find("\n2,128,0.500000,250.0000,256.0,nan,-inf,2,") !=
        std::string::npos);
}

TEST_CASE("a resumed timing.csv loses the rows after the checkpoint and goes on") {
  const TemporaryFolder folder;
  const std::string path = folder / "timing.csv";
  write_text(path, timing_of(7));
  {
    TimingLog log(path, 4);
    CHECK(read_text(path) == timing_of(4));
    log.add(make_record(5));
  }
  CHECK(read_text(path) == timing_of(5));
  { const TimingLog log(path, 5); }
  CHECK(read_text(path) == timing_of(5));
  { const TimingLog log(path, 0); }
  CHECK(read_text(path) == kHeader);
  CHECK(folder.count() == 1);
}

TEST_CASE("rows that a crash tore are cut off") {
  const TemporaryFolder folder;
  const std::string path = folder / "timing.csv";
  const std::string whole = timing_of(3);
  const std::string torn = GENERATE(as<std::string>(), "4,256,1.0", "4", "4,256,1.0\n", "\n",
                                    std::string(9, '\0') + "\n", "x,1,1,1,1,1,1,1,1,1,1,1,1,1\n");
  write_text(path, whole + torn);
  TimingLog log(path, 100);
  CHECK(read_text(path) == whole);
  log.add(make_record(4));
  CHECK(read_text(path) == timing_of(4));
}

TEST_CASE("a header torn by a crash is completed") {
  const TemporaryFolder folder;
  const std::string torn = kHeader.substr(0, static_cast<std::size_t>(GENERATE(0, 1, 30)));
  write_text(folder / "timing.csv", torn);
  const TimingLog log(folder / "timing.csv", 5);
  CHECK(read_text(folder / "timing.csv") == kHeader);
}

TEST_CASE("another program's timing.csv is refused and left as it is") {
  const TemporaryFolder folder;
  const std::string path = folder / "timing.csv";
  const std::string content = GENERATE(as<std::string>(), "step,loss\n1,2\n", "step,loss", "\n1\n");
  write_text(path, content);
  expect_output_error([&] { const TimingLog log(path, 9); }, {path, "should begin with"});
  CHECK(read_text(path) == content);
}

TEST_CASE("logs that cannot be written are output errors") {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  expect_output_error([&] { const TimingLog log(folder / "file/timing.csv", 0); },
                      {folder / "file/timing.csv"});
  expect_output_error([&] { const StatsLog log(folder / "missing/stats.jsonl", 0); },
                      {folder / "missing/stats.jsonl"});
  std::filesystem::create_directory(folder / "stats.jsonl");
  expect_output_error([&] { const StatsLog log(folder / "stats.jsonl", 0); },
                      {folder / "stats.jsonl"});
}

TEST_CASE("a full disk is noticed with the row that did not fit, which leaves no torn row") {
  const TemporaryFolder folder;
  StatsLog log(folder / "stats.jsonl", 0);
  log.add({make_record(1)});
  const std::string before = read_text(folder / "stats.jsonl");
  {
    const FileSizeLimit limit(before.size() + 10);
    expect_output_error([&] { log.add({make_record(2)}); },
                        {folder / "stats.jsonl", "File too large"});
  }
  CHECK(read_text(folder / "stats.jsonl") == before);
  log.add({make_record(3)});  // there is room again
  const std::string after = read_text(folder / "stats.jsonl");
  CHECK(after.starts_with(before));
  CHECK_NOTHROW(json::parse(after.substr(before.size())));
}

TEST_CASE("a log that is a link is refused: what it leads to is not ours") {
  const TemporaryFolder folder;
  write_text(folder / "elsewhere", "");
  std::filesystem::create_symlink(folder / "elsewhere", folder / "stats.jsonl");
  expect_output_error([&] { const StatsLog log(folder / "stats.jsonl", 0); },
                      {folder / "stats.jsonl"});
}

TEST_CASE("stats.jsonl holds the means of an interval") {
  const TemporaryFolder folder;
  StatsLog log(folder / "stats.jsonl", 0);
  StepRecord slow = make_record(2);
  slow.batch_ms = 750;
  slow.images_per_second = 64.0 / 0.75;
  slow.d_loss = 0.75f;
  slow.accuracy_fake = 1.0f;
  slow.loss_scale[1] = 16384;
  log.add({});
  log.add({make_record(1), slow});
  const std::string text = read_text(folder / "stats.jsonl");
  REQUIRE(std::count(text.begin(), text.end(), '\n') == 1);
  const json object = json::parse(text);
  CHECK(object["step"] == 2);
  CHECK(object["steps"] == 2);
  CHECK(object["images"] == 128);
  CHECK(object["elapsed_s"] == 0.5);
  CHECK(object["batch_ms"] == 500.0);
  CHECK(object["images_per_s"].get<double>() == Approx(128.0));  // 128 images in 1 s
  CHECK(object["d_loss"] == 1.0);
  CHECK(object["g_loss"] == 0.5);
  CHECK(object["q_loss"] == 2.0);
  CHECK(object["accuracy_real"] == 0.75);
  CHECK(object["accuracy_fake"] == 0.75);
  CHECK(object["loss_scale_g"] == 16384.0);
  CHECK(object["skipped_q"] == 2);
  CHECK_FALSE(object.contains("nonfinite"));
}

TEST_CASE("what is not finite is null and named, so that every line parses strictly") {
  const TemporaryFolder folder;
  StatsLog log(folder / "stats.jsonl", 0);
  StepRecord bad = make_record(2);
  bad.d_loss = kNan;
  bad.q_loss = std::numeric_limits<float>::infinity();
  bad.loss_scale[2] = kNan;
  log.add({make_record(1), bad});
  const json object = json::parse(read_text(folder / "stats.jsonl"));
  CHECK(object["d_loss"].is_null());
  CHECK(object["q_loss"].is_null());
  CHECK(object["loss_scale_q"].is_null());
  CHECK(object["g_loss"] == 0.5);
  CHECK(object["nonfinite"] == json{"d_loss", "q_loss", "loss_scale_q"});
}

TEST_CASE("a resumed stats.jsonl loses the lines after the checkpoint and torn ones") {
  const TemporaryFolder folder;
  const std::string path = folder / "stats.jsonl";
  {
    StatsLog log(path, 0);
    for (const std::int64_t step : {10, 20, 30}) log.add({make_record(step)});
  }
  const std::string whole = read_text(path);
  write_text(path, whole + "{\"step\":40,\"d_lo");
  { const StatsLog log(path, kNoLimit); }
  CHECK(read_text(path) == whole);
  write_text(path, whole + "{\"step\":\"4\"}\n[4]\n{}\n");
  {
    StatsLog log(path, 20);
    log.add({make_record(25)});
  }
  const std::string kept = read_text(path);
  CHECK(std::count(kept.begin(), kept.end(), '\n') == 3);
  CHECK(kept.starts_with(whole.substr(0, whole.find("{\"step\":30"))));
  CHECK(kept.find("{\"step\":25,") != std::string::npos);
}

TEST_CASE("summary.json is strict JSON with every figure") {
  const TemporaryFolder folder;
  RunSummary summary;
  summary.steps = 123;
  summary.images = 7872;
  summary.seconds = 420.5;
  summary.median_batch_ms = 30.25;
  summary.p90_batch_ms = std::numeric_limits<double>::infinity();
  summary.skipped = {1, 2, 3};
  summary.device = "CPU \"fast\" \xFF";
  summary.ended = "minutes";
  summary.seed = std::numeric_limits<std::uint64_t>::max();
  write_summary(folder / "summary.json", summary);
  const json object = json::parse(read_text(folder / "summary.json"));
  CHECK(object["steps"] == 123);
  CHECK(object["images"] == 7872);
  CHECK(object["seconds"] == 420.5);
  CHECK(object["median_batch_ms"] == 30.25);
  CHECK(object["p90_batch_ms"].is_null());
  CHECK(object["nonfinite"] == json{"p90_batch_ms"});
  CHECK(object["skipped_d"] == 1);
  CHECK(object["skipped_q"] == 3);
  CHECK(object["device"] == "CPU \"fast\" \xEF\xBF\xBD");
  CHECK(object["ended"] == "minutes");
  CHECK(object["seed"] == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("quantiles are interpolated between the sorted values") {
  CHECK(quantile({}, 0.5) == 0.0);
  CHECK(quantile({7}, 0.1) == 7.0);
  CHECK(quantile({3, 1, 2}, 0.5) == 2.0);
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(quantile({10, 20}, 0.1) == Approx(11.0));
  CHECK(quantile({5, 1, 9}, 0.0) == 1.0);
  CHECK(quantile({5, 1, 9}, 1.0) == 9.0);
}

}  // namespace
}  // namespace acgan
