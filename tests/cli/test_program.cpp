#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <thread>

#include "cli/tiny_run.h"

namespace acgan::test {

namespace {

namespace fs = std::filesystem;

// step, images and losses of every row of a timing.csv: what does not depend on the clock.
std::vector<std::string> losses_in(const std::string& path) {
  std::vector<std::string> rows;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    REQUIRE(cells.size() == 14);
    rows.push_back(cells[0] + " " + cells[1] + " " + cells[5] + " " + cells[6] + " " + cells[7]);
  }
  return rows;
}

}  // namespace

TEST_CASE("the program prints version, help and devices") {
  const TemporaryFolder folder;
  CHECK(run_program(folder.path(), {"--version"}).out == "acgan-train " ACGAN_VERSION "\n");
  CHECK(run_program(folder.path(), {"--help"}).exit_code == 0);
  const ProgramResult devices = run_program(folder.path(), {"devices"});
  CHECK(devices.exit_code == 0);
  CHECK_THAT(devices.out, Catch::StartsWith("cpu   ") && Catch::Contains("\ncuda  "));
  CHECK(devices.err.empty());
}

TEST_CASE("every kind of failure has its exit code and one line on stderr") {
  const TinyRun tiny;
  write_text(tiny.folder() / "file", "no folder, no checkpoint");
  struct Case {
    int exit_code;
    std::vector<std::string> arguments;
    std::string part;
  };
  const std::vector<std::string> lethal{"-c",      "tiny.yaml",
                                        "--steps", "50",
                                        "--set",   "optimizer.learning_rate=1e30",
                                        "--set",   "precision.max_consecutive_skips=1"};
  const Case cases[] = {
      {2, {"assess"}, "unknown command 'assess'"},
      {2, {}, "see acgan-train --help"},
      {2, {"-c", "missing.yaml"}, "missing.yaml: cannot read the config file"},
      {2, {"-c", "tiny.yaml", "--batch", "1"}, "--batch: train.batch must be"},
      {2, {"-c", "tiny.yaml", "--set", "train.bacth=4"}, "did you mean 'train.batch'?"},
      {2, {"-c", "tiny.yaml", "--set", "x\ny=1"}, "unknown key 'x y'"},
      {2,
       {"-c", "tiny.yaml", "--conv", "cudnn"},
       "only a GPU knows train.conv: cudnn, and device 'cpu' is none"},
      {2,
       {"-c", "tiny.yaml", "--allow-tf32", "--conv", "handwritten"},
       "only a GPU knows train.conv: handwritten and train.allow_tf32: true"},
      {3, {"-c", "tiny.yaml", "--set", "data.kind=quickdraw", "--data", "missing"}, "missing"},
      {3, {"-c", "tiny.yaml", "--batch", "65536"}, "65536"},
      {4, lethal, "training went non-finite"},
      {5, {"-c", "tiny.yaml", "--outdir", "file/x"}, "file"},
      {5, {"-c", "tiny.yaml", "--resume", "file"}, "file"},
      {5, {"-c", "tiny.yaml", "--resume", "latest", "--outdir", "none"}, "none"},
      {5, {"--resume", "missing"}, "missing does not exist"},
      {5, {"sample", "--checkpoint", "file"}, "file"},
      {5, {"sample", "--checkpoint", "missing"}, "missing"},
      {6, {"-c", "tiny.yaml", "--device", "cuda"}, "cuda"},
      {6, {"-c", "tiny.yaml", "--device", "cuda:7"}, "cuda"},
  };
  for (const Case& failing : cases) {
    const ProgramResult result = tiny.run(failing.arguments);
    CAPTURE(failing.part, result.err);
    CHECK(result.exit_code == failing.exit_code);
    const std::string last = result.err.substr(result.err.rfind("acgan-train: error: "));
    CHECK_THAT(last, Catch::StartsWith("acgan-train: error: ") && Catch::Contains(failing.part));
    CHECK(last.find('\n') == last.size() - 1);
  }
}

TEST_CASE("settings of a GPU are passed over with a warning where auto takes the CPU") {
  const TinyRun tiny;
  const ProgramResult result = tiny.train({"--device", "auto", "--conv", "handwritten"});
  CHECK(result.exit_code == 0);
  const bool took_the_cpu = result.out.find("auto took the CPU") != std::string::npos;
  CHECK((result.err.find("only a GPU knows train.conv: handwritten") != std::string::npos) ==
        took_the_cpu);
}

TEST_CASE("a run writes its directory, and its config repeats it") {
  const TinyRun tiny;
  const ProgramResult first = tiny.train({});
  REQUIRE(first.exit_code == 0);
  CHECK(first.err.empty());
  for (const char* file :
       {"config.yaml", "log.txt", "timing.csv", "stats.jsonl", "summary.json", "samples/reals.png",
        "samples/fakes_init.png", "checkpoints/step_000003.safetensors"}) {
    CAPTURE(file);
    CHECK(tiny.has(tiny.run_path() + "/" + file));
  }
  // The log has what the terminal showed before there was a run directory.
  CHECK_THAT(read_text(tiny.folder() / (tiny.run_path() + "/log.txt")),
             Catch::Contains("] device: ") && Catch::Contains("] seed: 5"));

  REQUIRE(tiny.run({"train", "-c", tiny.run_path() + "/config.yaml", "-q"}).out.empty());
  const auto rows = losses_in(tiny.folder() / (tiny.run_path(0) + "/timing.csv"));
  CHECK(rows.size() == 4);
  CHECK(rows == losses_in(tiny.folder() / (tiny.run_path(1) + "/timing.csv")));
}

TEST_CASE("a run with a drawn seed can be repeated from its config") {
  const TinyRun tiny;
  REQUIRE(tiny.train({"--seed", "random"}).exit_code == 0);
  REQUIRE(tiny.run({"-c", tiny.run_path() + "/config.yaml"}).exit_code == 0);
  CHECK(losses_in(tiny.folder() / (tiny.run_path(0) + "/timing.csv")) ==
        losses_in(tiny.folder() / (tiny.run_path(1) + "/timing.csv")));
}

TEST_CASE("a run is resumed by outdir, directory or checkpoint") {
  const TinyRun tiny;
  REQUIRE(tiny.train({}).exit_code == 0);
  REQUIRE(tiny.train({"--resume", "latest", "--steps", "5"}).exit_code == 0);
  CHECK(tiny.has(tiny.run_path() + "/checkpoints/step_000005.safetensors"));
  REQUIRE(tiny.run({"--resume", tiny.run_path(), "--steps", "6"}).exit_code == 0);
  const std::string newest = tiny.run_path() + "/checkpoints/step_000006.safetensors";
  REQUIRE(tiny.run({"--resume", newest, "--steps", "7"}).exit_code == 0);
  CHECK(losses_in(tiny.folder() / (tiny.run_path() + "/timing.csv")).size() == 8);
  CHECK_FALSE(tiny.has(tiny.run_path(1)));

  fs::remove(tiny.folder() / (tiny.run_path() + "/config.yaml"));
  const ProgramResult without = tiny.run({"--resume", tiny.run_path()});
  CHECK(without.exit_code == 2);
  CHECK_THAT(without.err, Catch::Contains("name the config with -c"));
}

TEST_CASE("a dry run writes nothing") {
  const TinyRun tiny;
  const ProgramResult result = tiny.train({"--dry-run"});
  CHECK(result.exit_code == 0);
  CHECK_FALSE(tiny.has("runs"));
  CHECK_THAT(result.out, Catch::Contains("plan"));
}

TEST_CASE("only a real run keeps decoded images for the next start") {
  const TinyRun tiny;
  // A BMP of 1x1: header, size, offset of the pixels, 40 bytes about the image, a pixel.
  const std::string picture(
      "BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0"
      "\0\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\x20\x30\0",
      58);
  for (const std::string name : {"cat", "dog"}) {
    fs::create_directories(tiny.folder() / ("pictures/" + name));
    for (const std::string number : {"1", "2"}) {
      write_text(tiny.folder() / ("pictures/" + name + "/" + number + ".bmp"), picture);
    }
  }
  const std::string cache = tiny.folder() / "cache";
  const auto train = [&](const std::vector<std::string>& further) {
    std::vector<std::string> options{"--set", "data.kind=folder", "--data", "pictures"};
    options.insert(options.end(), further.begin(), further.end());
    ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    const ProgramResult result = tiny.train(options);
    ::unsetenv("XDG_CACHE_HOME");
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    return result.out;
  };
  train({"--dry-run"});
  CHECK_FALSE(tiny.has("cache"));
  CHECK_THAT(train({}), !Catch::Contains("decoded before"));
  CHECK(tiny.has("cache/acgan-train"));
  CHECK_THAT(train({}), Catch::Contains("decoded before"));
}

TEST_CASE("sample writes a grid, raw images or single files") {
  const TinyRun tiny;
  REQUIRE(tiny.train({}).exit_code == 0);
  const auto sample = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"sample", "--checkpoint", tiny.run_path(), "--rows", "3"});
    const ProgramResult result = tiny.run(options);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
  };
  const std::string png = "\x89PNG";
  sample({"--classes", "house,fish"});
  CHECK_THAT(read_text(tiny.folder() / "samples.png"), Catch::StartsWith(png));
  sample({"--classes", "house,fish", "--out", "new/dir/x.npy"});
  const std::string npy = read_text(tiny.folder() / "new/dir/x.npy");
  CHECK_THAT(npy, Catch::Contains("(6, 8, 8, 1)"));
  sample({"--classes", "house,fish", "--out", "y.npy"});
  CHECK(read_text(tiny.folder() / "y.npy") == npy);
  sample({"--classes", "house,fish", "--out", "z.npy", "--seed", "2"});
  CHECK(read_text(tiny.folder() / "z.npy") != npy);
  sample({"--classes", "house,fish", "--out", "Y.NPY"});
  CHECK(read_text(tiny.folder() / "Y.NPY") == npy);
  sample({"--classes", "house", "--class", "fish", "--out", "s5.PNG"});
  CHECK(read_text(tiny.folder() / "s5.PNG") == read_text(tiny.folder() / "samples.png"));
  sample({"--classes", "all", "--out", "folder"});
  CHECK(tiny.has("folder/samples.png"));
  sample({"--classes", "fish", "--singles", "--out", "singles"});
  const auto count = std::distance(fs::directory_iterator(tiny.folder() / "singles"), {});
  CHECK(count == 3);

  const auto refusal = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"sample", "--checkpoint", tiny.run_path()});
    const ProgramResult result = tiny.run(options);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  CHECK_THAT(refusal({"--classes", "fihs"}), Catch::Contains("did you mean 'fish'?"));
  CHECK_THAT(refusal({"--classes", "fish,"}), Catch::Contains("unknown class ''"));
  CHECK_THAT(refusal({"--out", "x.jpg"}), Catch::Contains(".png or .npy"));
  CHECK_THAT(refusal({"--singles", "--out", "x.png"}), Catch::Contains("a folder for --singles"));
}

TEST_CASE("classes with commas in their names are drawn by --class") {
  const TinyRun tiny;
  const std::string classes = tiny.folder() / "classes";
  REQUIRE(tiny.train({"--steps", "1"}).exit_code == 0);  // reals.png: images that we can read
  for (const char* name : {"tea, green", "tea"}) {
    fs::create_directories(classes + "/" + name);
    for (const char* file : {"a.png", "b.png"}) {
      fs::copy_file(tiny.folder() / (tiny.run_path() + "/samples/reals.png"),
                    classes + "/" + name + "/" + file);
    }
  }
  REQUIRE(tiny.train({"--steps", "1", "--set", "data.kind=folder", "--set", "data.cache=false",
                      "--data", "classes"})
              .exit_code == 0);
  const auto sample = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"sample", "--checkpoint", tiny.run_path(1)});
    return tiny.run(options);
  };
  const ProgramResult split = sample({"--classes", "tea, green"});
  CHECK(split.exit_code == 2);
  CHECK_THAT(split.err, Catch::Contains("--class takes a name with commas in it"));
  const ProgramResult drawn = sample({"--class", "tea, green", "--class", "tea"});
  CHECK(drawn.exit_code == 0);
  CHECK_THAT(drawn.out, Catch::Contains("rows of tea, green, tea, seed"));

  fs::create_directory(tiny.folder() / "folder.png");
  const ProgramResult failed = sample({"--out", "folder.png"});
  CHECK(failed.exit_code == 5);
  CHECK_THAT(failed.err, Catch::Contains("folder.png") && !Catch::Contains("--outdir"));
}

TEST_CASE("the first signal saves and ends the run, with the signal's exit code") {
  const auto [number, exit_code] = GENERATE(std::pair(SIGINT, 130), std::pair(SIGTERM, 143));
  const TinyRun tiny;
  Program program(tiny.folder().path(),
                  {"-c", "tiny.yaml", "--steps", "1000000000", "--save-every", "0"});
  REQUIRE(program.wait_for("fakes_init.png"));
  program.signal(number);
  const ProgramResult result = program.finish();
  CHECK(result.exit_code == exit_code);
  CHECK_THAT(result.out, Catch::Contains("checkpoints/step_"));
  CHECK(tiny.has(tiny.run_path() + "/summary.json"));
  CHECK(
      tiny.train({"--resume", "latest", "--steps", "1000000000", "--minutes", "0.001"}).exit_code ==
      0);
}

TEST_CASE("a model that fits no machine is refused before any memory is used") {
  const TinyRun tiny;
  const ProgramResult result =
      tiny.train({"--set", "data.image_size=256", "--set", "model.conv2_width=65536", "--set",
                  "model.dense_width=65536"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 6);
  CHECK_THAT(result.err, Catch::Contains("out of memory") && Catch::Contains("MiB are free") &&
                             Catch::Contains("no batch size fits: use a smaller model"));
  CHECK_FALSE(tiny.has("runs"));
}

TEST_CASE("a run that does not fit into memory names a batch size that does") {
  if (ACGAN_SANITIZED) return;
  const TinyRun tiny;
  const ProgramOptions limited{.most_memory = std::size_t{700} << 20};
  const auto train = [&](const std::string& batch) {
    return run_program(tiny.folder().path(),
                       {"-c", "tiny.yaml", "--steps", "1", "--batch", batch, "--set",
                        "data.doodles_per_class=52", "--set", "model.conv1_width=4096"},
                       limited);
  };
  const ProgramResult refused = train("512");
  CAPTURE(refused.err);
  REQUIRE(refused.exit_code == 6);
  const std::string before = "; --batch ", after = " fits\n";
  const std::size_t begin = refused.err.find(before), end = refused.err.find(after);
  REQUIRE(end != std::string::npos);
  REQUIRE(begin < end);
  const std::string batch = refused.err.substr(begin + before.size(), end - begin - before.size());
  CHECK_FALSE(tiny.has("runs"));
  const ProgramResult fitting = train(batch);
  CAPTURE(batch, fitting.err);
  CHECK(fitting.exit_code == 0);

  const ProgramResult too_many = run_program(
      tiny.folder().path(),
      {"-c", "tiny.yaml", "--set", "data.image_size=64", "--set", "data.doodles_per_class=1000000"},
      limited);
  CHECK(too_many.exit_code == 3);
  CHECK_THAT(too_many.err, Catch::Contains("the built-in doodles do not fit into memory: set "
                                           "data.doodles_per_class lower"));
}

TEST_CASE("a run goes on and is saved when nobody reads its output any more") {
  const TinyRun tiny;
  Program program(tiny.folder().path(),
                  {"-c", "tiny.yaml", "--steps", "1000000000", "--minutes", "2s"},
                  {.reader = Reader::Pipe});
  REQUIRE(program.wait_for("fakes_init.png"));
  program.close_reader();
  const ProgramResult result = program.finish();
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  // The lines that reached nobody are in the log.
  CHECK_THAT(read_text(tiny.folder() / (tiny.run_path() + "/log.txt")),
             Catch::Contains("] checkpoint: ") && Catch::Contains("] newest grid: "));
  CHECK_THAT(read_text(tiny.folder() / (tiny.run_path() + "/summary.json")),
             Catch::Contains("\"minutes\""));
}

TEST_CASE("a run whose terminal hangs up is saved and can go on") {
  const TinyRun tiny;
  Program program(tiny.folder().path(),
                  {"-c", "tiny.yaml", "--steps", "1000000000", "--save-every", "0"},
                  {.reader = Reader::Terminal});
  REQUIRE(program.wait_for("eta"));  // the live line is being drawn
  program.close_reader();
  const ProgramResult result = program.finish();
  CAPTURE(result.err);
  CHECK(result.exit_code == 128 + SIGHUP);
  CHECK_THAT(read_text(tiny.folder() / (tiny.run_path() + "/log.txt")),
             Catch::Contains("] checkpoint: "));
  CHECK_THAT(read_text(tiny.folder() / (tiny.run_path() + "/summary.json")),
             Catch::Contains("\"SIGHUP\""));
  CHECK(
      tiny.train({"--resume", "latest", "--steps", "1000000000", "--minutes", "0.001"}).exit_code ==
      0);
}

TEST_CASE("a second signal ends the run at once") {
  const TinyRun tiny;
  // Plain loops over a wide model: a step takes far longer than this test.
  Program program(
      tiny.folder().path(),
      {"-c", "tiny.yaml", "--device", "host", "--batch", "64", "--set", "data.image_size=64",
       "--set", "data.doodles_per_class=20", "--set", "model.conv1_width=64", "--set",
       "model.conv2_width=128", "--set", "output.rows=1"});
  REQUIRE(program.wait_for("fakes_init.png"));
  program.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  program.signal(SIGTERM);
  CHECK(program.finish().exit_code == 143);
}

}  // namespace acgan::test
