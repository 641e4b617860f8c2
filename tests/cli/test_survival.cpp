#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <thread>

#include "cli/tiny_run.h"
#include "run/checkpoint.h"

namespace acgan::test {

namespace {

namespace fs = std::filesystem;

// 200 bytes with blanks, other alphabets and a quote.
std::string difficult_name() {
  std::string name = "data set '1' \xC3\xA9\xE6\x97\xA5\xE6\x9C\xAC";
  return name + std::string(200 - name.size(), 'n');
}

// A folder of two classes with three pictures each, at `path`.
void make_pictures(const TinyRun& tiny, const std::string& path) {
  REQUIRE(tiny.train({"-q", "--steps", "1", "--outdir", "for_pictures"}).exit_code == 0);
  const std::string picture =
      tiny.folder() / "for_pictures/00000-tiny-fp32-batch4/samples/reals.png";
  for (const char* name : {"tea", "caf\xC3\xA9"}) {
    fs::create_directories(fs::path(path) / name);
    for (const char* file : {"a.png", "b.png", "c.png"}) {
      fs::copy_file(picture, fs::path(path) / name / file);
    }
  }
}

// Whether the program has its own handler for the signal by now. (Ours is in the process until it
// has become the program.)
bool has_handler(pid_t process, int number) {
  std::error_code error;
  const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", process), error);
  if (error || program.filename() != "acgan-train") return false;
  std::istringstream lines(read_text(fmt::format("/proc/{}/status", process)));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (number - 1) & 1) != 0;
  }
  return false;
}

void check_saved_and_resumable(const TinyRun& tiny, const ProgramResult& result) {
  CAPTURE(result.err);
  CHECK(result.exit_code == 130);
  std::size_t checkpoints = 0;
  for (const auto& entry : fs::directory_iterator(tiny.path_in("checkpoints"))) {
    CHECK_NOTHROW(Checkpoint::load(entry.path()));
    ++checkpoints;
  }
  CHECK(checkpoints > 0);
  CHECK_THAT(read_text(tiny.path_in("summary.json")), Catch::Contains("\"SIGINT\""));
}

}  // namespace

TEST_CASE("two runs started at once in one outdir get two directories") {
  const TinyRun tiny;
  fs::create_directory(tiny.folder() / "other");
  Program first(tiny.folder().path(), {"-c", "tiny.yaml", "-q"});
  Program second(tiny.folder() / "other", {"-c", "../tiny.yaml", "-q", "--outdir", "../runs"});
  CHECK(first.finish().exit_code == 0);
  CHECK(second.finish().exit_code == 0);
  // The times in them differ in length.
  const auto bytes = [&](int run) {
    return static_cast<double>(
        read_text(tiny.path_in("checkpoints/step_000003.safetensors", run)).size());
  };
  CHECK(bytes(0) == Approx(bytes(1)).margin(100));
}

TEST_CASE("a signal while the data set is loaded ends the run in order") {
  const TinyRun tiny;
  Program program(tiny.folder().path(),
                  {"-c", "tiny.yaml", "--steps", "1000000000", "--set",
                   "data.doodles_per_class=500", "--set", "data.image_size=64"});
  while (!has_handler(program.process(), SIGINT)) std::this_thread::yield();
  program.signal(SIGINT);
  check_saved_and_resumable(tiny, program.finish());
}

TEST_CASE("a signal while sampling or saving finishes that and ends the run in order") {
  const auto [option, text] =
      GENERATE(std::pair("--sample-every", "fakes_0000"), std::pair("--save-every", "step_0000"));
  const TinyRun tiny;
  // After every step, so that nearly all of the time is spent there.
  Program program(tiny.folder().path(), {"-c", "tiny.yaml", "--steps", "1000000000", option,
                                         "0.000001", "--set", "output.rows=50"});
  REQUIRE(program.wait_for(text));
  program.signal(SIGINT);
  check_saved_and_resumable(tiny, program.finish());
}

TEST_CASE("a second signal ends the program at once while it loads") {
  const TinyRun tiny;
  // Drawing a million doodles takes far longer than this test.
  Program program(tiny.folder().path(),
                  {"-c", "tiny.yaml", "--set", "data.doodles_per_class=100000"});
  while (!has_handler(program.process(), SIGINT)) std::this_thread::yield();
  program.signal(SIGINT);
  program.signal(SIGTERM);  // two that come together may be seen in any order
  const int exit_code = program.finish().exit_code;
  CHECK((exit_code == 130 || exit_code == 143));
  CHECK_FALSE(tiny.has("runs"));
}

TEST_CASE("paths with blanks, other alphabets, 200 characters and links work everywhere") {
  const TinyRun tiny;
  const std::string name = difficult_name();
  make_pictures(tiny, tiny.folder() / name);
  fs::create_directory_symlink(name, tiny.folder() / "link");
  fs::copy_file(tiny.folder() / "tiny.yaml", tiny.folder() / (name + ".yaml"));
  const std::string data = GENERATE(true, false) ? name : "link";
  const std::vector<std::string> options{
      "-c",    name + ".yaml",     "-q",
      "--set", "data.kind=folder", "--data",
      data,    "--outdir",         name + "/../out " + name.substr(0, 150)};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), options.begin(), options.end());
    return more;
  };
  const ProgramResult first = tiny.run(with({}));
  CAPTURE(first.err);
  REQUIRE(first.exit_code == 0);
  CHECK(tiny.run(with({"--resume", "latest", "--steps", "5"})).exit_code == 0);
  const std::string outdir = tiny.folder() / ("out " + name.substr(0, 150));
  const fs::path run = fs::directory_iterator(outdir)->path();
  CHECK(run.filename().string().find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
        std::string::npos);
  fs::create_directory_symlink(run, tiny.folder() / "run link");
  CHECK(tiny.run({"--resume", "run link", "--steps", "6"}).exit_code == 0);
  CHECK(fs::exists(run / "checkpoints/step_000006.safetensors"));
  const ProgramResult drawn = tiny.run({"sample", "--checkpoint", "run link", "--classes",
                                        "caf\xC3\xA9", "--out", name + "/drawn é.png"});
  CAPTURE(drawn.err);
  CHECK(drawn.exit_code == 0);
  CHECK(fs::file_size(tiny.folder() / (name + "/drawn é.png")) > 0);
}

TEST_CASE("a data set is only read, and may be read-only") {
  const TinyRun tiny;
  const std::string data = tiny.folder() / "pictures";
  make_pictures(tiny, data);
  std::vector<fs::path> paths{data};
  for (const auto& entry : fs::recursive_directory_iterator(data)) paths.push_back(entry.path());
  const auto set_writable = [&](bool writable) {
    for (const fs::path& path : paths) {
      fs::permissions(path, fs::perms::owner_write,
                      writable ? fs::perm_options::add : fs::perm_options::remove);
    }
  };
  const auto times = [&] {
    std::vector<fs::file_time_type> result;
    for (const fs::path& path : paths) result.push_back(fs::last_write_time(path));
    return result;
  };
  set_writable(false);
  const auto before = times();
  const ProgramResult result =
      tiny.train({"-q", "--set", "data.kind=folder", "--data", "pictures"});
  CHECK(times() == before);  // of folders as well: nothing was put into them
  set_writable(true);
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
}

TEST_CASE("a data folder that goes while a run trains is not missed before the next start") {
  const TinyRun tiny;
  make_pictures(tiny, tiny.folder() / "pictures");
  Program program(tiny.folder().path(), {"-c", "tiny.yaml", "--steps", "1000000000", "--set",
                                         "data.kind=folder", "--data", "pictures"});
  REQUIRE(program.wait_for("fakes_init.png"));
  fs::remove_all(tiny.folder() / "pictures");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  program.signal(SIGINT);
  check_saved_and_resumable(tiny, program.finish());
  const ProgramResult resumed =
      tiny.train({"--resume", "latest", "--set", "data.kind=folder", "--data", "pictures"});
  CHECK(resumed.exit_code == 3);
  CHECK_THAT(resumed.err, Catch::Contains("pictures"));
}

TEST_CASE("class names cannot lead out of the folder that samples go to") {
  const TinyRun tiny;
  REQUIRE(tiny.train({"-q"}).exit_code == 0);
  const std::string file = tiny.path_in("checkpoints/step_000003.safetensors");
  Checkpoint checkpoint = Checkpoint::load(file);
  checkpoint.set_text("classes",
                      R"(["../../x","/etc/x","..","a/b","","a\u0000b","n\nm","6","7","8"])");
  checkpoint.save(tiny.folder() / "hostile.safetensors");
  fs::create_directory(tiny.folder() / "deep");
  const auto entries = [&] {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(tiny.folder().path())) {
      count += entry.path().string().find("/deep/") == std::string::npos ? 1 : 0;
    }
    return count;
  };
  const std::size_t before = entries();
  const ProgramResult result = tiny.run({"sample", "--checkpoint", "hostile.safetensors", "--rows",
                                         "2", "--singles", "--out", "deep/er"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(entries() == before);
  std::size_t drawn = 0;
  for (const auto& entry : fs::directory_iterator(tiny.folder() / "deep/er")) {
    CHECK(entry.is_regular_file());
    ++drawn;
  }
  CHECK(drawn == 20);
}

TEST_CASE("links in a run directory do not make a run write elsewhere") {
  const std::string name = GENERATE(as<std::string>{}, "log.txt", "timing.csv", "stats.jsonl");
  CAPTURE(name);
  const TinyRun tiny;
  REQUIRE(tiny.train({"-q"}).exit_code == 0);
  fs::rename(tiny.path_in(name), tiny.folder() / "elsewhere");
  fs::create_symlink(tiny.folder() / "elsewhere", tiny.path_in(name));
  const std::string before = read_text(tiny.folder() / "elsewhere");
  const ProgramResult result = tiny.train({"--resume", "latest", "--steps", "5"});
  CHECK(result.exit_code == 5);
  CHECK_THAT(result.err, Catch::Contains(name));
  CHECK(read_text(tiny.folder() / "elsewhere") == before);
}

TEST_CASE("pipes and huge files in a run directory do not hold a run up") {
  const std::string name =
      GENERATE(as<std::string>{}, "log.txt", "timing.csv", "stats.jsonl", "config.yaml");
  CAPTURE(name);
  const TinyRun tiny;
  REQUIRE(tiny.train({"-q"}).exit_code == 0);
  fs::remove(tiny.path_in(name));
  if (name == "config.yaml") {
    write_text(tiny.path_in(name), "");
    fs::resize_file(tiny.path_in(name), std::uintmax_t{1} << 40);
  } else {
    REQUIRE(::mkfifo(tiny.path_in(name).c_str(), 0600) == 0);
  }
  const ProgramResult result = tiny.train({"--resume", "latest", "--steps", "5"});
  if (name == "timing.csv") {  // begun anew, with its header, in the pipe's place
    CHECK(result.exit_code == 0);
    CHECK(fs::is_regular_file(tiny.path_in(name)));
    return;
  }
  CHECK(result.exit_code == 5);
  CHECK_THAT(result.err, Catch::Contains(name));
}

TEST_CASE("names from a data set or a checkpoint do not steer the terminal") {
  const TinyRun tiny;
  make_pictures(tiny, tiny.folder() / "pictures");
  fs::rename(tiny.folder() / "pictures/tea", tiny.folder() / "pictures/\x1b[2Jtea\x07");
  const ProgramResult trained =
      tiny.train({"--set", "data.kind=folder", "--data", "pictures", "--steps", "2"});
  CAPTURE(trained.err);
  REQUIRE(trained.exit_code == 0);
  const ProgramResult drawn = tiny.run({"sample", "--checkpoint", TinyRun::run_path()});
  REQUIRE(drawn.exit_code == 0);
  for (const ProgramResult& result : {trained, drawn}) {
    CHECK_THAT(result.out, Catch::Contains("[2Jtea"));
    CHECK(result.out.find('\x1b') == std::string::npos);
    CHECK(result.out.find('\x07') == std::string::npos);
  }
  const std::string log = read_text(tiny.path_in("log.txt"));
  CHECK(log.find('\x1b') == std::string::npos);
}

TEST_CASE("a checkpoint larger than the memory is refused before it is read") {
  const TinyRun tiny;
  const std::string header = R"({"a":{"dtype":"U8","shape":[4398046511104],)"
                             R"("data_offsets":[0,4398046511104]}})";
  std::string start(8, '\0');
  start[0] = static_cast<char>(header.size());
  write_text(tiny.folder() / "huge", start + header);
  std::error_code error;  // 4 TiB of nothing; not every file system can
  fs::resize_file(tiny.folder() / "huge", 8 + header.size() + 4398046511104, error);
  if (error) {
    WARN("skipped: the file system has no files of 4 TiB");
    return;
  }
  const ProgramResult result = tiny.run({"sample", "--checkpoint", "huge"});
  CHECK(result.exit_code == 5);
  CHECK_THAT(result.err, Catch::Contains("huge") && Catch::Contains("more than"));
}

}  // namespace acgan::test
