#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "cli/tiny_run.h"
#include "run/checkpoint.h"
#include "run/run_directory.h"

namespace acgan::test {

namespace {

namespace fs = std::filesystem;

// ACGAN_TEST_KILLS=300 for a longer look by hand.
int kills_wanted() {
  const char* const text = std::getenv("ACGAN_TEST_KILLS");
  return text == nullptr ? 12 : std::max(1, std::atoi(text));
}

bool ends_whole(const std::string& text, const std::string& ending) {
  return text.ends_with(ending);
}

// Every file of a run that appears at once is whole, whenever it was written. The step of the
// newest checkpoint.
std::int64_t check_files(const std::string& run_path) {
  const RunDirectory run = RunDirectory::open(run_path);  // as the next start does
  const std::vector<std::string> checkpoints = run.checkpoints();
  REQUIRE_FALSE(checkpoints.empty());
  for (const std::string& file : checkpoints) {
    INFO(file);
    CHECK_NOTHROW(Checkpoint::load(file));
  }
  for (const auto& entry : fs::directory_iterator(run_path + "/samples")) {
    INFO(entry.path());
    CHECK(entry.path().extension() == ".png");  // temporary ones are gone
    CHECK(ends_whole(read_text(entry.path()), "IEND\xAE\x42\x60\x82"));
  }
  CHECK(ends_whole(read_text(run.config_file()), "\n"));
  return std::stoll(Checkpoint::load(checkpoints.front()).text("step"));
}

// Waits until there is another newest checkpoint than `known`, however busy the machine is.
void wait_for_progress(const std::string& run_path, const std::string& known) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < end) {
    for (const auto& entry : fs::directory_iterator(run_path + "/checkpoints")) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("step_") && name > known) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL("no checkpoint after " << known);
}

struct TinyPrecision {
  std::string name, folder;
};

// Starts, kills after a random time, and checks, again and again; then the run goes on to an end
// and must equal one that nobody touched.
void check_survives_kills(const TinyPrecision& precision, int kills) {
  const TinyRun tiny;
  const std::vector<std::string> options{"-c",           "tiny.yaml", "-q",           "--precision",
                                         precision.name, "--set",     "output.keep=3"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), options.begin(), options.end());
    return more;
  };
  REQUIRE(tiny.run(with({"--steps", "2"})).exit_code == 0);
  const std::string run = tiny.folder() / ("runs/00000-" + precision.folder);
  std::mt19937 random(17);  // places differ anyway: the machine's own timing is in them
  std::int64_t step = 2;
  for (int i = 0; i < kills; ++i) {
    INFO("kill " << i);
    // With the shorter time a checkpoint and a grid follow every step, so most of it is writing.
    const char* const every = i % 2 == 0 ? "0.00001" : "0.001";
    Program program(tiny.folder().path(), with({"--resume", "latest", "--steps", "1000000000",
                                                "--save-every", every, "--sample-every", every}));
    // Some die before they have done anything, as the machine will have it, others certainly later.
    if (i % 3 == 0) wait_for_progress(run, fmt::format("step_{:06d}.safetensors", step));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % (i % 3 == 0 ? 20 : 150)));
    program.signal(SIGKILL);
    const ProgramResult result = program.finish();
    REQUIRE(result.exit_code == 128 + SIGKILL);
    const std::int64_t newest = check_files(run);
    CHECK(newest >= step);
    step = newest;
  }
  CHECK(step > 2);
  const std::string end = std::to_string(step + 5);
  REQUIRE(tiny.run(with({"--resume", "latest", "--steps", end})).exit_code == 0);
  REQUIRE(tiny.run(with({"--steps", end})).exit_code == 0);  // in one go, as run 00001
  const std::string file = fmt::format("/checkpoints/step_{:06d}.safetensors", step + 5);
  const Checkpoint found = Checkpoint::load(run + file);
  const Checkpoint expected =
      Checkpoint::load(tiny.folder() / ("runs/00001-" + precision.folder + file));
  REQUIRE(found.arrays().size() == expected.arrays().size());
  for (const auto& [name, array] : expected.arrays()) {
    if (name == "progress.elapsed_seconds") continue;
    INFO(name);
    CHECK(found.at(name).bytes == array.bytes);
  }
}

}  // namespace

TEST_CASE("a run killed at any moment goes on from a whole checkpoint, bit for bit") {
  const auto precision = GENERATE(TinyPrecision{"fp32", "tiny-fp32-batch4"},
                                  TinyPrecision{"mixed", "tiny-mixed-batch4"});
  check_survives_kills(precision, kills_wanted());
}

TEST_CASE("a kill during saving leaves the checkpoint before, and the next start cleans up") {
  const TinyRun tiny;
  REQUIRE(tiny.train({"-q"}).exit_code == 0);
  const std::string checkpoints = tiny.path_in("checkpoints");
  const auto count = [&] {
    return std::distance(fs::directory_iterator(checkpoints), fs::directory_iterator());
  };
  // What is seen half written is killed then and there; nearly every try meets one.
  bool has_met_one = false;
  for (int i = 0; i < 50 && !has_met_one; ++i) {
    Program program(tiny.folder().path(), {"-c", "tiny.yaml", "-q", "--resume", "latest", "--steps",
                                           "1000000000", "--save-every", "0.00001"});
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!has_met_one && std::chrono::steady_clock::now() < end) {
      for (const auto& entry : fs::directory_iterator(checkpoints)) {
        has_met_one |= entry.path().extension() == ".tmp";
      }
    }
    program.signal(SIGKILL);
    program.finish();
    has_met_one = false;  // it may have got its name before the signal came
    for (const auto& entry : fs::directory_iterator(checkpoints)) {
      has_met_one |= entry.path().extension() == ".tmp";
    }
  }
  REQUIRE(has_met_one);
  check_files(tiny.folder() / TinyRun::run_path());
  for (const auto& entry : fs::directory_iterator(checkpoints)) {
    CHECK(entry.path().extension() == ".safetensors");
  }
  CHECK(count() >= 1);
}

}  // namespace acgan::test
