#include <stdlib.h>  // setenv

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/tiny_run.h"

namespace acgan::test {

namespace {

// A run of three steps with these further settings.
ProgramResult train_with(const TinyRun& tiny, const std::string& setting) {
  return tiny.train({"--set", setting});
}

}  // namespace

TEST_CASE("a run has a report where gnuplot is installed, else a line that says so") {
  const TinyRun tiny;
  const ProgramResult drawn = train_with(tiny, "output.report=true");
  CHECK(drawn.exit_code == 0);
  CHECK(drawn.err.empty());
  CHECK_THAT(read_text(tiny.path_in("report.html")), Catch::Contains("<picture>"));
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const ProgramResult without = train_with(tiny, "output.report=true");
  const ProgramResult command = tiny.run({"report", TinyRun::run_path(1)});
  ::setenv("PATH", path.c_str(), 1);
  CHECK(without.exit_code == 0);
  CHECK(without.err.empty());
  CHECK_THAT(without.out, Catch::Contains("report: left out: cannot run gnuplot"));
  CHECK_FALSE(tiny.has(TinyRun::run_path(1) + "/report.html"));
  CHECK(command.exit_code == 5);
  CHECK_THAT(command.err, Catch::Contains("apt-get install gnuplot-nox"));
}

TEST_CASE("the command report makes a page of any run") {
  const TinyRun tiny;
  REQUIRE(tiny.train({}).exit_code == 0);
  CHECK_FALSE(tiny.has(TinyRun::run_path() + "/report.html"));
  CHECK_FALSE(tiny.has(TinyRun::run_path() + "/tensorboard"));
  const ProgramResult result = tiny.run({"report", TinyRun::run_path()});
  CHECK(result.exit_code == 0);
  CHECK(result.out == "written: " + TinyRun::run_path() + "/report.html\n");
  CHECK(tiny.run({"report", TinyRun::run_path(), "--out", "page.html"}).exit_code == 0);
  CHECK(read_text(tiny.folder() / "page.html") == read_text(tiny.path_in("report.html")));
  CHECK(tiny.run({"report", "runs"}).exit_code == 5);
  CHECK(tiny.run({"report"}).exit_code == 2);
  CHECK(tiny.run({"report", TinyRun::run_path(), "two"}).exit_code == 2);
}

TEST_CASE("an animation of the grids is written at the end, or by sample") {
  const TinyRun tiny;
  const ProgramResult result = train_with(tiny, "output.animation=true");
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, Catch::Contains("progress.webp; 2 of 2 grids"));
  const std::string animation = read_text(tiny.path_in("samples/progress.webp"));
  CHECK_THAT(animation, Catch::StartsWith("RIFF"));
  const auto animate = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"sample", "--animate", TinyRun::run_path()});
    return tiny.run(options);
  };
  CHECK(animate({"--out", "new/x.webp"}).exit_code == 0);
  CHECK(read_text(tiny.folder() / "new/x.webp") == animation);
  std::filesystem::remove(tiny.path_in("samples/progress.webp"));
  CHECK(animate({}).exit_code == 0);
  CHECK(read_text(tiny.path_in("samples/progress.webp")) == animation);
  CHECK_THAT(animate({"--out", "x.png"}).err, Catch::Contains("ending in .webp"));
  CHECK(tiny.run({"sample", "--animate", "runs"}).exit_code == 5);
}

}  // namespace acgan::test
