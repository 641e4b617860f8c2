#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "base/error.h"
#include "run/checkpoint.h"
#include "run/expect_error.h"
#include "run/run_directory.h"
#include "support/temporary_folder.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;
using test::expect_output_error;
using test::TemporaryFolder;
using test::write_text;

Config make_config(const std::string& name, PrecisionMode mode, std::int64_t batch) {
  Config config;
  config.name = name;
  config.precision.mode = mode;
  config.train.batch = batch;
  return config;
}

std::string name_of(const RunDirectory& run) { return fs::path(run.path()).filename().string(); }

// A run directory with checkpoints of these steps.
RunDirectory make_run(const std::string& outdir, const Config& config,
                      const std::vector<std::int64_t>& steps) {
  const RunDirectory run = RunDirectory::create(outdir, config);
  for (const std::int64_t step : steps) write_text(run.checkpoint_file(step), "x");
  return run;
}

TEST_CASE("runs are numbered and named after config, precision and batch") {
  const TemporaryFolder folder;
  const std::string outdir = folder / "deep/runs";
  const Config config = make_config("quickdraw", PrecisionMode::Mixed, 64);
  const RunDirectory first = RunDirectory::create(outdir, config);
  CHECK(first.path() == outdir + "/00000-quickdraw-mixed-batch64");
  CHECK(fs::is_directory(first.path() + "/samples"));
  CHECK(fs::is_directory(first.path() + "/checkpoints"));

  const Config other = make_config("cifar10", PrecisionMode::Fp32, 7);
  CHECK(name_of(RunDirectory::create(outdir, other)) == "00001-cifar10-fp32-batch7");
  fs::create_directories(outdir + "/00041-anything");
  fs::create_directories(outdir + "/777-too-few-digits");
  fs::create_directories(outdir + "/99999999999999999999-too-many");
  CHECK(name_of(RunDirectory::create(outdir, config)) == "00042-quickdraw-mixed-batch64");
  fs::create_directories(outdir + "/99999-full");
  CHECK(name_of(RunDirectory::create(outdir, config)) == "100000-quickdraw-mixed-batch64");
}

TEST_CASE("names hold [A-Za-z0-9._-] only") {
  const TemporaryFolder folder;
  const auto created = [&](const std::string& name) {
    const Config config = make_config(name, PrecisionMode::Fp32, 1);
    return name_of(RunDirectory::create(folder.path(), config)).substr(5);
  };
  CHECK(created("a b/c:d") == "-a_b_c_d-fp32-batch1");
  CHECK(created("../x") == "-.._x-fp32-batch1");
  CHECK(created("caf\xC3\xA9") == "-caf__-fp32-batch1");
  CHECK(created("Ok.1_2-3") == "-Ok.1_2-3-fp32-batch1");
  CHECK(created("") == "-run-fp32-batch1");
  CHECK(created(std::string(300, 'x')).size() < 200);
}

TEST_CASE("runs started at the same moment get directories of their own") {
  const TemporaryFolder folder;
  const Config config = make_config("a", PrecisionMode::Fp32, 1);
  constexpr int kChildren = 6, kRuns = 10;
  for (int child = 0; child < kChildren; ++child) {
    if (::fork() != 0) continue;
    try {
      for (int i = 0; i < kRuns; ++i) RunDirectory::create(folder.path(), config);
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  for (int child = 0; child < kChildren; ++child) {
    int status = -1;
    ::wait(&status);
    CHECK(status == 0);
  }
  CHECK(folder.count() == kChildren * kRuns);
}

TEST_CASE("an outdir that cannot be made is an output error") {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  const Config config = make_config("a", PrecisionMode::Fp32, 1);
  expect_output_error([&] { RunDirectory::create(folder / "file", config); },
                      {folder / "file", "Not a directory"});
  expect_output_error([&] { RunDirectory::create(folder / "file/runs", config); },
                      {folder / "file/runs", "--outdir"});
}

TEST_CASE("files of a run have the names that users know") {
  const TemporaryFolder folder;
  const RunDirectory run =
      RunDirectory::create(folder.path(), make_config("a", PrecisionMode::Fp32, 1));
  const auto inside = [&](const std::string& path) { return path.substr(run.path().size() + 1); };
  CHECK(inside(run.config_file()) == "config.yaml");
  CHECK(inside(run.config_file_until(123)) == "config_until_step_000123.yaml");
  CHECK(inside(run.log_file()) == "log.txt");
  CHECK(inside(run.timing_file()) == "timing.csv");
  CHECK(inside(run.stats_file()) == "stats.jsonl");
  CHECK(inside(run.summary_file()) == "summary.json");
  CHECK(inside(run.reals_file()) == "samples/reals.png");
  CHECK(inside(run.fakes_init_file()) == "samples/fakes_init.png");
  CHECK(inside(run.fakes_file(123, 420.0)) == "samples/fakes_000123_07m00s.png");
  CHECK(inside(run.fakes_file(0, 59.999)) == "samples/fakes_000000_00m59s.png");
  CHECK(inside(run.fakes_file(1234567, 3 * 3600 + 61.2)) == "samples/fakes_1234567_181m01s.png");
  CHECK(inside(run.checkpoint_file(123)) == "checkpoints/step_000123.safetensors");
}

TEST_CASE("every config of a run is kept with the step up to which it ran") {
  const TemporaryFolder folder;
  const RunDirectory run =
      RunDirectory::create(folder.path(), make_config("a", PrecisionMode::Fp32, 1));
  const auto text = [](const std::string& file) {
    return fs::exists(file) ? test::read_text(file) : "";
  };
  CHECK(run.change_config("first", 0) == std::nullopt);
  CHECK(run.change_config("first", 10) == std::nullopt);
  CHECK(run.change_config("second", 10) == run.config_file_until(10));
  CHECK(text(run.config_file()) == "second");
  CHECK(text(run.config_file_until(10)) == "first");
  // Not a step was made with it.
  CHECK(run.change_config("third", 10) == run.config_file_until(10));
  CHECK(text(run.config_file()) == "third");
  CHECK(text(run.config_file_until(10)) == "first");
  CHECK(run.change_config("fourth", 20) == run.config_file_until(20));

  // Back to a step at which the first ran: what came later never was.
  CHECK(run.change_config("fifth", 5) == run.config_file_until(5));
  CHECK(text(run.config_file()) == "fifth");
  CHECK(text(run.config_file_until(5)) == "first");
  CHECK(text(run.config_file_until(10)).empty());
  CHECK(text(run.config_file_until(20)).empty());
  CHECK(run.change_config("first", 3) == std::nullopt);
  CHECK(text(run.config_file()) == "first");
  CHECK(text(run.config_file_until(5)).empty());
}

TEST_CASE("checkpoints are listed newest first, by number and not by name") {
  const TemporaryFolder folder;
  const RunDirectory run =
      make_run(folder.path(), make_config("a", PrecisionMode::Fp32, 1), {999999, 5, 1000000});
  for (const char* name : {"step_.safetensors", "step_12x.safetensors", "step_7.safetensors.bak",
                           ".step_000009.safetensors.1.tmp", "best.safetensors.bak"}) {
    write_text(run.path() + "/checkpoints/" + name, "x");
  }
  const std::vector<std::string> expected = {run.checkpoint_file(1000000),
                                             run.checkpoint_file(999999), run.checkpoint_file(5)};
  CHECK(run.checkpoints() == expected);
  CHECK(run.newest_step() == 1000000);
}

TEST_CASE("the best checkpoint has its place by the step in it, and is pruned by no number") {
  const TemporaryFolder folder;
  const RunDirectory run =
      make_run(folder.path(), make_config("a", PrecisionMode::Fp32, 1), {10, 20});
  const std::string tenth = run.checkpoint_file(10), twentieth = run.checkpoint_file(20);
  const auto keep_best = [&](const std::string& step) {
    Checkpoint checkpoint;
    checkpoint.set_text("step", step);
    checkpoint.save(run.best_file());
    return run.checkpoints();
  };
  using Files = std::vector<std::string>;
  CHECK(keep_best("5") == Files{twentieth, tenth, run.best_file()});
  CHECK(keep_best("10") == Files{twentieth, tenth, run.best_file()});
  CHECK(keep_best("15") == Files{twentieth, run.best_file(), tenth});
  CHECK(keep_best("21") == Files{run.best_file(), twentieth, tenth});
  CHECK(run.newest_step() == 21);
  CHECK(keep_best("soon") == Files{twentieth, tenth, run.best_file()});
  write_text(run.best_file(), "damaged");
  CHECK(run.checkpoints() == Files{twentieth, tenth, run.best_file()});
  keep_best("15");
  run.prune(20, 1);
  CHECK(run.checkpoints() == Files{twentieth, run.best_file()});
  run.prune(12, 1);  // a run that went on from an earlier step
  CHECK(run.checkpoints() == Files{run.best_file()});
  run.remove_best();
  CHECK(run.checkpoints().empty());
  CHECK_FALSE(run.newest_step().has_value());
}

TEST_CASE("pruning leaves the newest checkpoints and all other files") {
  const TemporaryFolder folder;
  const RunDirectory run =
      make_run(folder.path(), make_config("a", PrecisionMode::Fp32, 1), {1, 2, 10, 100});
  write_text(run.path() + "/checkpoints/mine.safetensors", "x");
  run.prune(1000000, 5);
  CHECK(run.checkpoints().size() == 4);
  run.prune(1000000, 2);
  const std::vector<std::string> expected = {run.checkpoint_file(100), run.checkpoint_file(10)};
  CHECK(run.checkpoints() == expected);
  CHECK(fs::exists(run.path() + "/checkpoints/mine.safetensors"));
}

TEST_CASE("grids of steps that are run again go with the next checkpoint") {
  const TemporaryFolder folder;
  const RunDirectory run =
      make_run(folder.path(), make_config("a", PrecisionMode::Fp32, 1), {10, 20});
  for (const std::string& file :
       {run.fakes_init_file(), run.fakes_file(10, 1), run.fakes_file(11, 2), run.reals_file()}) {
    write_text(file, "x");
  }
  run.prune(20, 5);
  CHECK(run.fakes_files().size() == 3);
  run.prune(10, 5);
  CHECK(run.fakes_files() ==
        std::vector<std::string>{run.fakes_init_file(), run.fakes_file(10, 1)});
  CHECK(fs::exists(run.reals_file()));
}

TEST_CASE("the latest run is the highest number of this very config that has a checkpoint") {
  const TemporaryFolder folder;
  const Config config = make_config("draw", PrecisionMode::Mixed, 64);
  CHECK_FALSE(RunDirectory::find_latest(folder / "missing", config).has_value());
  CHECK_FALSE(RunDirectory::find_latest(folder.path(), config).has_value());

  make_run(folder.path(), config, {1});
  const RunDirectory wanted = make_run(folder.path(), config, {3});
  make_run(folder.path(), config, {});  // newer, but nothing to resume from
  make_run(folder.path(), make_config("quick-draw", PrecisionMode::Mixed, 64), {9});
  make_run(folder.path(), make_config("draw", PrecisionMode::Fp32, 64), {9});
  make_run(folder.path(), make_config("draw", PrecisionMode::Mixed, 6), {9});
  make_run(folder.path(), make_config("draw", PrecisionMode::Mixed, 640), {9});
  write_text(folder / "00099-draw-mixed-batch64", "a file, no folder");

  const auto found = RunDirectory::find_latest(folder.path(), config);
  REQUIRE(found.has_value());
  CHECK(found->path() == wanted.path());
  CHECK_FALSE(RunDirectory::find_latest(folder.path(), make_config("raw", PrecisionMode::Mixed, 64))
                  .has_value());
}

TEST_CASE("opening a run directory removes what a crash left and nothing else") {
  const TemporaryFolder folder;
  const RunDirectory run = make_run(folder.path(), make_config("a", PrecisionMode::Fp32, 1), {1});
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  for (const char* part : {"", "samples/", "checkpoints/"}) {
    write_text(fmt::format("{}/{}.x.{}.tmp", run.path(), part, dead), "torn");
  }
  const RunDirectory opened = RunDirectory::open(run.path() + "/");
  CHECK(opened.path() == run.path());
  CHECK(opened.checkpoints().size() == 1);
  for (const char* part : {"", "samples/", "checkpoints/"}) {
    CHECK_FALSE(fs::exists(fmt::format("{}/{}.x.{}.tmp", run.path(), part, dead)));
  }
}

TEST_CASE("opening something else is an output error") {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  for (const std::string& path : {folder.path(), folder / "missing", folder / "file"}) {
    expect_output_error([&] { RunDirectory::open(path); }, {path, "no run directory"});
  }
}

}  // namespace
}  // namespace acgan
