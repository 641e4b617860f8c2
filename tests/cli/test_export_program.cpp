#include <catch2/catch.hpp>
#include <filesystem>
#include <variant>

#include "cli/command_line.h"
#include "cli/tiny_run.h"

namespace acgan::test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("export writes the newest checkpoint's generator") {
  const TinyRun tiny;
  REQUIRE(tiny.train({}).exit_code == 0);
  const ProgramResult first =
      tiny.run({"export", "--checkpoint", tiny.run_path(), "--onnx", "new/a.onnx"});
  CAPTURE(first.err);
  REQUIRE(first.exit_code == 0);
  CHECK_THAT(first.out, Catch::Contains("latent, float [N,3]") && Catch::Contains("2 cup") &&
                            Catch::Contains("image, float [N,1,8,8]") &&
                            Catch::Contains("written: new/a.onnx"));
  const std::string file = tiny.path_in("checkpoints/step_000003.safetensors");
  REQUIRE(tiny.run({"export", "--checkpoint", file, "--onnx", "b.onnx"}).exit_code == 0);
  const std::string content = read_text(tiny.folder() / "new/a.onnx");
  CHECK(content.size() > 1000);
  CHECK(read_text(tiny.folder() / "b.onnx") == content);

  REQUIRE(tiny.train({"--resume", "latest", "--steps", "4"}).exit_code == 0);
  REQUIRE(tiny.run({"export", "--checkpoint", tiny.run_path(), "--onnx", "b.onnx"}).exit_code == 0);
  CHECK(read_text(tiny.folder() / "b.onnx") != content);
}

TEST_CASE("a checkpoint without a checksum is used with a warning") {
  const TinyRun tiny;
  REQUIRE(tiny.train({}).exit_code == 0);
  std::string bytes = read_text(tiny.path_in("checkpoints/step_000003.safetensors"));
  const std::string key = "\"checksum\":";
  const std::size_t at = bytes.find(key);
  REQUIRE(at != std::string::npos);
  bytes.replace(at, key.size(), "\"chequers\":");  // a text like any other
  write_text(tiny.folder() / "plain.safetensors", bytes);
  const auto warning = Catch::Equals(
      "acgan-train: warning: plain.safetensors has no checksum: damage to it could not be "
      "noticed\n");
  const ProgramResult exported =
      tiny.run({"export", "--checkpoint", "plain.safetensors", "--onnx", "a.onnx"});
  CHECK(exported.exit_code == 0);
  CHECK_THAT(exported.err, warning);
  const ProgramResult sampled =
      tiny.run({"sample", "--checkpoint", "plain.safetensors", "--out", "a.png"});
  CHECK(sampled.exit_code == 0);
  CHECK_THAT(sampled.err, warning);
}

TEST_CASE("export's errors: one line, and no file") {
  const TinyRun tiny;
  REQUIRE(tiny.train({}).exit_code == 0);
  const std::string run = tiny.run_path();
  const std::string checkpoint = tiny.path_in("checkpoints/step_000003.safetensors");
  const std::string before = read_text(checkpoint);
  fs::create_directory(tiny.folder() / "folder");
  struct Case {
    int exit_code;
    std::vector<std::string> arguments;
    std::string part;
  };
  const Case cases[] = {
      {2, {"export"}, "expected --checkpoint PATH, found none; see acgan-train export --help"},
      {2, {"export", "--checkpoint", run}, "expected --onnx FILE, found none"},
      {2, {"export", "--checkpoint", run, "--onnx", ""}, "--onnx must name a file"},
      {2, {"export", "--checkpoint", run, "--onxx", "x"}, "did you mean '--onnx'?"},
      {2, {"export", "--checkpoint", run, "--onnx", checkpoint}, "is the checkpoint itself"},
      {5, {"export", "--checkpoint", "missing", "--onnx", "x"}, "there is no checkpoint missing"},
      {5, {"export", "--checkpoint", "tiny.yaml", "--onnx", "x"}, "no whole safetensors"},
      {5, {"export", "--checkpoint", "folder", "--onnx", "x"}, "folder"},
      {5, {"export", "--checkpoint", run, "--onnx", "folder"}, "cannot write folder"},
      {5, {"export", "--checkpoint", run, "--onnx", "/dev/null"}, "it is a device, not a file"},
      {5, {"export", "--checkpoint", run, "--onnx", "tiny.yaml/x"}, "another place with --onnx"},
  };
  for (const Case& failing : cases) {
    const ProgramResult result = tiny.run(failing.arguments);
    CAPTURE(failing.part, result.err);
    CHECK(result.exit_code == failing.exit_code);
    CHECK_THAT(result.err,
               Catch::StartsWith("acgan-train: error: ") && Catch::Contains(failing.part));
    CHECK(result.err.find('\n') == result.err.size() - 1);
    CHECK(result.out.empty());
  }
  CHECK_FALSE(tiny.has("x"));
  CHECK(read_text(checkpoint) == before);
}

TEST_CASE("a full disk leaves the old ONNX file as it was") {
  const TinyRun tiny;
  REQUIRE(tiny.train({}).exit_code == 0);
  write_text(tiny.folder() / "x.onnx", "old");
  const auto files = [&] {
    return std::distance(fs::directory_iterator(tiny.folder().path()), {});
  };
  const auto count = files();
  const ProgramResult result = run_program(
      tiny.folder().path(), {"export", "--checkpoint", tiny.run_path(), "--onnx", "x.onnx"},
      {.most_file_size = 1000});
  CAPTURE(result.err);
  CHECK(result.exit_code == 5);
  CHECK_THAT(result.err, Catch::Contains("cannot write x.onnx: File too large"));
  CHECK(read_text(tiny.folder() / "x.onnx") == "old");
  CHECK(files() == count);
}

TEST_CASE("export's options") {
  const Command command = parse_command_line({"export", "--checkpoint", "c", "--onnx", "f"});
  CHECK(std::get<ExportCommand>(command).checkpoint == "c");
  CHECK(std::get<ExportCommand>(command).onnx == "f");
  const Command help = parse_command_line({"export", "--help"});
  CHECK_THAT(std::get<PrintCommand>(help).text,
             Catch::Contains("--onnx FILE") && Catch::Contains("int64 [N]"));
}

}  // namespace
}  // namespace acgan::test
