#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "run/checkpoint.h"
#include "run/directory_lock.h"
#include "run/run_directory.h"
#include "support/temporary_folder.h"
#include "train/schedule.h"
#include "train/trainer.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

// A small run on the built-in data.
TrainRequest small_request(const fs::path& outdir) {
  TrainRequest request;
  Config& config = request.config;
  config.name = "small";
  config.data.image_size = 12;
  config.data.channels = 1;
  config.data.doodles_per_class = 4;
  config.model = {.latent_dim = 8,
                  .dense_width = 24,
                  .conv1_width = 8,
                  .conv2_width = 16,
                  .classifier_width = 12};
  config.train.batch = 10;
  config.train.steps = 5;
  config.train.minutes = 0;
  config.output.dir = outdir.string();
  config.output.rows = 3;
  config.output.sample_every = 0;
  return request;
}

RunEnd train(const TrainRequest& request, int signal = 0) {
  Log log(Verbosity::Quiet);
  const std::atomic<int> received{signal};
  return run_training(request, log, received);
}

// The message of the error that the run must end with.
std::string error_of(const TrainRequest& request, ErrorKind kind) {
  try {
    train(request);
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  FAIL("the run should have failed");
  return {};
}

std::string text_of(const fs::path& path) { return test::read_text(path.string()); }

std::int64_t lines_of(const fs::path& path) {
  const std::string text = text_of(path);
  return std::count(text.begin(), text.end(), '\n');
}

fs::path only_run(const fs::path& outdir) {
  std::vector<fs::path> runs(fs::directory_iterator(outdir), fs::directory_iterator{});
  REQUIRE(runs.size() == 1);
  return runs.front();
}

TEST_CASE("a run leaves its directory complete") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  request.config.train.device = GENERATE("cpu", "emulated");
  CHECK(train(request) == RunEnd::Done);
  const fs::path run = only_run(folder.path());
  CHECK(run.filename() == "00000-small-fp32-batch10");
  for (const char* file :
       {"config.yaml", "log.txt", "timing.csv", "stats.jsonl", "summary.json", "samples/reals.png",
        "samples/fakes_init.png", "checkpoints/step_000005.safetensors"}) {
    INFO(file);
    CHECK(fs::file_size(run / file) > 0);
  }
  CHECK(lines_of(run / "timing.csv") == 6);
  CHECK(text_of(run / "log.txt").find("seed: 1") != std::string::npos);
  CHECK(text_of(run / "summary.json").find("\"steps\"") != std::string::npos);
}

TEST_CASE("resuming continues bit for bit") {
  const bool mixed = GENERATE(false, true);
  const test::TemporaryFolder whole, parts;
  TrainRequest request = small_request(whole.path());
  request.config.train.device = GENERATE("cpu", "emulated");
  request.config.precision.mode = mixed ? PrecisionMode::Mixed : PrecisionMode::Fp32;
  train(request);
  request.config.output.dir = parts.path();
  request.config.train.steps = 2;
  train(request);
  request.config.train.steps = 5;
  request.resume = GENERATE("latest", "directory");
  if (request.resume != "latest") request.resume = only_run(parts.path()).string();
  train(request);
  const std::string file = "checkpoints/step_000005.safetensors";
  const Checkpoint expected = Checkpoint::load(only_run(whole.path()) / file);
  const Checkpoint found = Checkpoint::load(only_run(parts.path()) / file);
  CHECK(found.arrays().size() == expected.arrays().size());
  for (const auto& [name, array] : expected.arrays()) {
    if (name == "progress.elapsed_seconds") continue;
    INFO(name);
    CHECK(found.at(name).bytes == array.bytes);
  }
  CHECK(lines_of(only_run(parts.path()) / "timing.csv") == 6);
}

TEST_CASE("a run that is resumed with nothing left to do keeps its summary") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  train(request);
  const std::string summary = text_of(only_run(folder.path()) / "summary.json");
  request.resume = "latest";
  CHECK(train(request) == RunEnd::Done);
  CHECK(text_of(only_run(folder.path()) / "summary.json") == summary);
}

TEST_CASE("a broken newest checkpoint: latest takes the one before it, a named one is an error") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  request.config.train.steps = 2;
  train(request);
  request.config.train.steps = 4;
  request.resume = "latest";
  train(request);
  const fs::path newest = only_run(folder.path()) / "checkpoints/step_000004.safetensors";
  fs::resize_file(newest, fs::file_size(newest) - 100);
  TrainRequest named = request;
  named.resume = newest.string();
  CHECK_THROWS_AS(train(named), Error);
  request.config.train.steps = 3;
  CHECK(train(request) == RunEnd::Done);
  CHECK(fs::exists(only_run(folder.path()) / "checkpoints/step_000003.safetensors"));
}

TEST_CASE("nothing to resume is an error, never a fresh start") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  request.resume = "latest";
  CHECK_THROWS_WITH(train(request), Catch::Contains("--resume latest"));
  CHECK(folder.count() == 0);
}

TEST_CASE("a dry run writes nothing") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder / "runs");
  request.dry_run = true;
  CHECK(train(request) == RunEnd::Done);
  CHECK(folder.count() == 0);
}

TEST_CASE("a signal ends the run in order") {
  const test::TemporaryFolder folder;
  CHECK(train(small_request(folder.path()), SIGTERM) == RunEnd::Terminated);
  const fs::path run = only_run(folder.path());
  CHECK(fs::exists(run / "checkpoints/step_000000.safetensors"));
  CHECK(text_of(run / "summary.json").find("SIGTERM") != std::string::npos);
}

TEST_CASE("training that diverges stops with the non-finite kind and keeps the checkpoint") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  request.config.train.steps = 2;
  train(request);
  request.config.train.steps = 400;
  request.config.precision.max_consecutive_skips = 3;
  request.config.optimizer.learning_rate = {.d = 1e30, .g = 1e30, .q = 1e30};
  request.resume = "latest";
  CHECK_THAT(error_of(request, ErrorKind::NonFinite), Catch::Contains("step_000002.safetensors"));
  const fs::path run = only_run(folder.path());
  CHECK_NOTHROW(Checkpoint::load(run / "checkpoints/step_000002.safetensors"));
  CHECK(text_of(run / "summary.json").find("non-finite") != std::string::npos);
}

TEST_CASE("a run that ends in a diverged state fails and leaves the good checkpoint alone") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  request.config.output.keep = 1;
  train(request);
  request.config.train.steps = 9;
  request.config.optimizer.learning_rate = {.d = 1e30, .g = 1e30, .q = 1e30};
  request.resume = "latest";
  error_of(request, ErrorKind::NonFinite);
  const fs::path checkpoints = only_run(folder.path()) / "checkpoints";
  CHECK(fs::exists(checkpoints / "step_000005.safetensors"));
  CHECK_FALSE(fs::exists(checkpoints / "step_000009.safetensors"));
}

TEST_CASE("a generator that learns nothing is warned of with its grids") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  request.config.optimizer.learning_rate = {.d = 1e-30, .g = 1e-30, .q = 1e-30};
  request.config.train.steps = 510;  // batches of 10
  train(request);
  CHECK_THAT(text_of(only_run(folder.path()) / "log.txt"),
             Catch::Contains("[warning] at step 510 the classifier is right about") &&
                 Catch::Contains("no better than chance (10.0%)"));
}

TEST_CASE("a run that ends non-finite names the layer") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  request.config.train.steps = 400;
  request.config.precision.max_consecutive_skips = 3;
  request.config.optimizer.learning_rate = {.d = 1e30, .g = 1e30, .q = 1e30};
  request.config.precision.mode = GENERATE(PrecisionMode::Fp32, PrecisionMode::Mixed);
  request.config.precision.init_scale = 16;  // more overflows in so small a network
  CHECK_THAT(
      error_of(request, ErrorKind::NonFinite),
      Catch::Contains("the first layer with Inf or NaN in its output is discriminator.conv") &&
          Catch::Contains("no checkpoint was written yet"));
}

TEST_CASE("a resumed run keeps its seed, whatever the config says") {
  const test::TemporaryFolder whole, parts;
  TrainRequest request = small_request(whole.path());
  request.config.train.seed = 7;
  train(request);
  request.config.output.dir = parts.path();
  request.config.train.steps = 2;
  train(request);
  request.config.train.steps = 5;
  request.config.train.seed = 8;
  request.resume = "latest";
  train(request);
  const std::string file = "checkpoints/step_000005.safetensors";
  const Checkpoint expected = Checkpoint::load(only_run(whole.path()) / file);
  const Checkpoint found = Checkpoint::load(only_run(parts.path()) / file);
  CHECK(found.at("generator.dense1.weight").bytes == expected.at("generator.dense1.weight").bytes);
  CHECK(text_of(only_run(parts.path()) / "config.yaml").find("seed: 7") != std::string::npos);
}

TEST_CASE("a run resumed with another batch keeps the config of its first steps") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  train(request);
  const fs::path run = only_run(folder.path());
  const std::string first = text_of(run / "config.yaml");
  request.resume = run.string();
  request.config.train.batch = 5;
  request.config.train.steps = 7;
  train(request);
  CHECK(only_run(folder.path()) == run);
  CHECK(text_of(run / "config.yaml").find("batch: 5") != std::string::npos);
  CHECK(text_of(run / "config_until_step_000005.yaml") == first);
  CHECK_THAT(text_of(run / "log.txt"),
             Catch::Contains("kept as") && Catch::Contains("config_until_step_000005.yaml"));
}

TEST_CASE("a dry run checks what it would resume from") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  train(request);
  request.dry_run = true;
  request.resume = only_run(folder.path()).string();
  CHECK(train(request) == RunEnd::Done);
  request.config.model.dense_width = 32;
  CHECK_THROWS_WITH(train(request), Catch::Contains("dense_width"));
  request.resume = "latest";
  request.config.output.dir = folder / "nothing";
  CHECK_THROWS_WITH(train(request), Catch::Contains("--resume latest"));
}

TEST_CASE("a checkpoint whose counters no run can have is refused") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());  // 5 steps, 40 images
  train(request);
  const std::string good = only_run(folder.path()) / "checkpoints/step_000005.safetensors";
  const std::string bad = only_run(folder.path()) / "checkpoints/bad.safetensors";
  request.resume = bad;
  const auto check_refused = [&](const std::string& name, auto value) {
    INFO(name << " " << value);
    constexpr bool kIsFloating = std::is_floating_point_v<decltype(value)>;
    Checkpoint checkpoint = Checkpoint::load(good);
    REQUIRE(checkpoint.has(name));
    checkpoint.set(name, kIsFloating ? Checkpoint::Type::F64 : Checkpoint::Type::I64, {1}, &value);
    checkpoint.save(bad);
    CHECK_THAT(error_of(request, ErrorKind::Output), Catch::Contains(bad));
  };
  using Integer = std::int64_t;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const Integer step : {Integer{-1}, Integer{4}, Integer{1} << 62}) {
    check_refused("progress.step", step);
  }
  for (const double seconds : {-1.0, 1e300, kInfinity, std::nan("")}) {
    check_refused("progress.elapsed_seconds", seconds);
  }
  check_refused("random.step", Integer{-1});
  check_refused("data.index", Integer{-1});
  check_refused("data.index", Integer{41});
  check_refused("data.epoch", Integer{-1});
  check_refused("data.epoch", Integer{1} << 58);
  for (const std::string optimizer : {"optimizer.state.d.", "optimizer.state.q."}) {
    check_refused(optimizer + "applied", Integer{-1});
    check_refused(optimizer + "applied", Integer{6});
    check_refused(optimizer + "skipped", Integer{-1});
    check_refused(optimizer + "skipped", Integer{1});
    check_refused(optimizer + "clean_steps", Integer{-1});
    check_refused(optimizer + "clean_steps", (Integer{1} << 32) + 5);
    check_refused(optimizer + "consecutive_skips", Integer{-1});
    check_refused(optimizer + "beta1_power", 1.5);
    check_refused(optimizer + "beta2_power", -0.5);
    for (const double scale : {0.0, -1.0, 1e300, kInfinity, std::nan("")}) {
      check_refused(optimizer + "loss_scale", scale);
    }
  }
  CHECK(fs::exists(good));
}

TEST_CASE("a run directory is held by one process") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  train(request);
  const DirectoryLock lock(only_run(folder.path()).string());
  request.resume = "latest";
  request.config.train.steps = 6;
  CHECK_THROWS_WITH(train(request), Catch::Contains("another process"));
}

TEST_CASE("a batch larger than the set, an output folder that cannot be") {
  const test::TemporaryFolder folder;
  TrainRequest request = small_request(folder.path());
  request.config.train.batch = 41;  // of 40 images
  CHECK_THROWS_WITH(train(request), Catch::Contains("41") && Catch::Contains("40"));
  request = small_request(folder.path());
  test::write_text(folder / "file", "x");
  request.config.output.dir = folder / "file/runs";
  error_of(request, ErrorKind::Output);
}

TEST_CASE("a schedule is due once for every point passed") {
  Schedule schedule(1.0, {0.5, 2.25});  // minutes
  CHECK_FALSE(schedule.due(29.9));
  CHECK(schedule.due(30));
  CHECK_FALSE(schedule.due(31));
  CHECK(schedule.due(60.5));
  CHECK_FALSE(schedule.due(119));
  CHECK(schedule.due(200));  // 2, 2.25 and 3 minutes together
  CHECK_FALSE(schedule.due(239));
  CHECK(schedule.due(240));
  Schedule resumed(1.0);
  resumed.skip_to(150);
  CHECK_FALSE(resumed.due(151));
  CHECK(resumed.due(180));
}

}  // namespace
}  // namespace acgan
