#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "cli/tiny_run.h"
#include "run/checkpoint.h"

// A limit of file size stands for a full disk: it works everywhere, and a write past it fails in
// the same way. Where the test may mount, a real small file system is filled as well.

namespace acgan::test {

namespace {

namespace fs = std::filesystem;

void check_one_sentence(const ProgramResult& result, const std::string& file) {
  CAPTURE(result.err);
  CHECK(result.exit_code == 5);
  const std::size_t begin = result.err.rfind("acgan-train: error: cannot write ");
  REQUIRE(begin != std::string::npos);
  const std::string last = result.err.substr(begin);
  CHECK(last.find('\n') == last.size() - 1);
  CHECK_THAT(last, Catch::Contains(file));
}

// No row is torn, and nothing has a temporary name.
void check_no_torn_file(const std::string& run) {
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    INFO(entry.path());
    CHECK(entry.path().extension() != ".tmp");
  }
  if (!fs::exists(run + "/timing.csv")) return;
  std::istringstream rows(read_text(run + "/timing.csv"));
  for (std::string row; std::getline(rows, row);) CHECK(std::ranges::count(row, ',') == 13);
}

std::string stats_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "{\"step\":1,\"images\":4}\n";
  return text;
}

}  // namespace

TEST_CASE("a full disk ends a run with one sentence, and what is there stands") {
  struct Case {
    const char* file;  // that meets the limit first
    std::size_t most_bytes;
    std::vector<std::string> options;
  };
  const auto full = GENERATE(
      Case{"config.yaml", 1000, {}},
      Case{"reals.png", 4500, {"--set", "output.rows=40", "--set", "data.doodles_per_class=40"}},
      Case{"timing.csv", 20000, {"--steps", "2000", "--save-every", "0"}},
      Case{"step_000100.safetensors", 30000, {"--steps", "100"}},
      Case{"fakes_init.png", 4500, {"--set", "output.rows=40"}});
  CAPTURE(full.file);
  const TinyRun tiny;
  std::vector<std::string> arguments{"-c", "tiny.yaml"};
  arguments.insert(arguments.end(), full.options.begin(), full.options.end());
  const ProgramResult result =
      run_program(tiny.folder().path(), arguments, {.most_file_size = full.most_bytes});
  check_one_sentence(result, full.file);
  check_no_torn_file(tiny.folder() / TinyRun::run_path());
}

TEST_CASE("a resumed run that meets a full disk keeps its checkpoint and goes on later") {
  const std::string file = GENERATE(as<std::string>(), "config_until_step_000003.yaml",
                                    "stats.jsonl", "step_000009.safetensors");
  CAPTURE(file);
  const TinyRun tiny;
  REQUIRE(tiny.train({}).exit_code == 0);
  const std::string checkpoint = tiny.path_in("checkpoints/step_000003.safetensors");
  const std::string before = read_text(checkpoint);
  std::size_t most_bytes = 30000;
  if (file.starts_with("config")) most_bytes = 1000;
  if (file == "stats.jsonl") write_text(tiny.path_in(file), stats_lines(2000));
  const std::vector<std::string> more{"-c",     "tiny.yaml", "-q", "--resume",
                                      "latest", "--steps",   "9"};
  const ProgramResult result =
      run_program(tiny.folder().path(), more, {.most_file_size = most_bytes});
  check_one_sentence(result, file);
  CHECK(read_text(checkpoint) == before);
  check_no_torn_file(tiny.folder() / TinyRun::run_path());
  CHECK(tiny.run(more).exit_code == 0);
  CHECK(tiny.has(TinyRun::run_path() + "/checkpoints/step_000009.safetensors"));
}

TEST_CASE("a summary that cannot be written is an error, a log that cannot is a warning") {
  const TinyRun tiny;
  REQUIRE(tiny.train({}).exit_code == 0);
  write_text(tiny.path_in("log.txt"), std::string(100000, 'x'));
  const ProgramResult result =
      run_program(tiny.folder().path(), {"-c", "tiny.yaml", "--resume", "latest", "--steps", "4"},
                  {.most_file_size = 90000});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.err, Catch::Contains("warning: cannot write") && Catch::Contains("log.txt"));

  fs::remove(tiny.path_in("summary.json"));
  fs::create_directory(tiny.path_in("summary.json"));
  check_one_sentence(tiny.train({"--resume", "latest", "--steps", "5"}), "summary.json");
  CHECK(tiny.has(TinyRun::run_path() + "/checkpoints/step_000005.safetensors"));
}

TEST_CASE("told so, a run trains on while the disk is full, and writes again afterwards") {
  const TinyRun tiny;
  Program program(tiny.folder().path(),
                  {"-c", "tiny.yaml", "--steps", "1000000000", "--save-every", "0.0005", "--set",
                   "output.on_write_error=continue"},
                  {.reader = Reader::Pipe});
  REQUIRE(program.wait_for("checkpoint: "));
  const auto limit_files_to = [&](rlim_t bytes) {
    const rlimit limits{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    REQUIRE(::prlimit(program.process(), RLIMIT_FSIZE, &limits, nullptr) == 0);
  };
  const std::string warnings = tiny.folder() / "stderr";
  limit_files_to(3000);  // room for the warnings; timing.csv is longer soon, a checkpoint is
  REQUIRE(Program::wait_for_text(warnings, "timing.csv is tried again"));
  REQUIRE(Program::wait_for_text(warnings, "the checkpoint is tried again"));
  limit_files_to(RLIM_INFINITY);
  REQUIRE(Program::wait_for_text(warnings, "timing.csv can be written again"));
  REQUIRE(Program::wait_for_text(warnings, "the checkpoint can be written again"));
  program.signal(SIGINT);
  const ProgramResult result = program.finish();
  CAPTURE(result.err);
  CHECK(result.exit_code == 130);
  CHECK(result.err.size() < 3000);  // told once, not with every step
  check_no_torn_file(tiny.folder() / TinyRun::run_path());
  CHECK(tiny.train({"--resume", "latest", "--steps", "1000000000", "--minutes", "0.0001"})
            .exit_code == 0);
}

TEST_CASE("told to go on, a run whose last checkpoint cannot be written still fails") {
  const TinyRun tiny;
  const ProgramResult result =
      run_program(tiny.folder().path(),
                  {"-c", "tiny.yaml", "--steps", "100", "--set", "output.on_write_error=continue"},
                  {.most_file_size = 30000});
  check_one_sentence(result, "step_000100.safetensors");
}

TEST_CASE("bench and sample leave their old files on a full disk") {
  const TinyRun tiny;
  REQUIRE(tiny.train({}).exit_code == 0);
  const auto check_stands = [&](const std::vector<std::string>& arguments, const std::string& file,
                                std::size_t most_bytes) {
    const ProgramResult first = tiny.run(arguments);
    CAPTURE(first.err);
    REQUIRE(first.exit_code == 0);
    const std::string before = read_text(tiny.folder() / file);
    REQUIRE(before.size() > most_bytes);
    check_one_sentence(run_program(tiny.folder().path(), arguments,
                                   {.reader = Reader::Pipe, .most_file_size = most_bytes}),
                       file);
    CHECK(read_text(tiny.folder() / file) == before);
  };
  check_stands({"sample", "--checkpoint", TinyRun::run_path(), "--out", "a.png"}, "a.png", 500);
  check_stands({"bench", "-c", "tiny.yaml", "--max-seconds", "0.05"}, "bench/bench.csv", 300);
}

TEST_CASE("a small file system runs full: the run ends, and goes on once there is room") {
  const TinyRun tiny;
  const std::string disk = tiny.folder() / "runs";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=400k") != 0) {
    WARN("skipped: no right to mount a file system here");
    return;
  }
  // The mount must go before the folder does.
  struct Unmount {
    const std::string& path;
    ~Unmount() { ::umount2(path.c_str(), MNT_DETACH); }
  };
  const Unmount unmount{disk};
  const std::vector<std::string> options{
      "-c", "tiny.yaml", "-q", "--save-every", "0.00005", "--keep", "2", "--steps", "100000"};
  const ProgramResult result = run_program(tiny.folder().path(), options);
  check_one_sentence(result, disk.substr(disk.rfind('/') + 1) + "/00000");
  CHECK_THAT(result.err, Catch::Contains("No space left"));
  const std::string run = tiny.folder() / TinyRun::run_path();
  check_no_torn_file(run);
  std::size_t checkpoints = 0;
  for (const auto& entry : fs::directory_iterator(run + "/checkpoints")) {
    CHECK_NOTHROW(Checkpoint::load(entry.path()));
    ++checkpoints;
  }
  CHECK(checkpoints > 0);
  REQUIRE(::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=100m") == 0);
  CHECK(tiny.train({"-q", "--resume", "latest", "--steps", "1000000", "--minutes", "0.001"})
            .exit_code == 0);
}

}  // namespace acgan::test
