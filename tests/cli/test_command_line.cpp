#include <catch2/catch.hpp>

#include "base/error.h"
#include "cli/command_line.h"

namespace acgan::test {

namespace {

using Arguments = std::vector<std::string>;

TrainCommand train(const Arguments& arguments) {
  return std::get<TrainCommand>(parse_command_line(arguments));
}
SampleCommand sample(const Arguments& arguments) {
  return std::get<SampleCommand>(parse_command_line(arguments));
}
std::string printed(const Arguments& arguments) {
  return std::get<PrintCommand>(parse_command_line(arguments)).text;
}

std::string refusal(const Arguments& arguments) {
  try {
    parse_command_line(arguments);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Usage);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every option of train becomes its key") {
  const TrainCommand command = train({"-c",
                                      "a.yaml",
                                      "--precision",
                                      "mixed",
                                      "--half",
                                      "bf16",
                                      "--device",
                                      "cuda:1",
                                      "--data",
                                      "my: data",
                                      "--batch",
                                      "16",
                                      "--steps",
                                      "-5",
                                      "--minutes",
                                      "90s",
                                      "--sample-at",
                                      "1,90s",
                                      "--sample-every",
                                      "2",
                                      "--save-every=3",
                                      "--keep",
                                      "4",
                                      "--outdir",
                                      "it's \"x\"",
                                      "--seed",
                                      "random",
                                      "--threads",
                                      "2",
                                      "--objective",
                                      "joint",
                                      "--allow-tf32",
                                      "--conv",
                                      "cudnn"});
  const std::vector<std::pair<std::string, std::string>> expected{
      {"--precision", "precision.mode=mixed"},
      {"--half", "precision.half=bf16"},
      {"--device", "train.device=\"cuda:1\""},
      {"--data", "data.path=\"my: data\""},
      {"--batch", "train.batch=16"},
      {"--steps", "train.steps=-5"},
      {"--minutes", "train.minutes=90s"},
      {"--sample-at", "output.sample_at=[1,90s]"},
      {"--sample-every", "output.sample_every=2"},
      {"--save-every", "output.save_every=3"},
      {"--keep", "output.keep=4"},
      {"--outdir", "output.dir=\"it's \\\"x\\\"\""},
      {"--seed", "train.seed=random"},
      {"--threads", "train.threads=2"},
      {"--objective", "train.objective=joint"},
      {"--conv", "train.conv=cudnn"},
      {"--allow-tf32", "train.allow_tf32=true"},
  };
  REQUIRE(command.overrides.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(command.overrides[i].source == expected[i].first);
    CHECK(command.overrides[i].key + "=" + command.overrides[i].value == expected[i].second);
  }
  CHECK(command.config_path == "a.yaml");
  CHECK_FALSE(command.resume.has_value());
  CHECK_FALSE(command.dry_run);
  CHECK_FALSE(command.profile);
  CHECK(command.verbosity == Verbosity::Normal);
}

TEST_CASE("--set takes any key, after the other options and in order") {
  const TrainCommand command =
      train({"train", "--set", "train.batch=2", "--config=a.yaml", "--set=data.classes=[a, b]",
             "--batch", "3", "--batch", "4", "--set", "x=a=b", "--set", "y="});
  REQUIRE(command.overrides.size() == 5);
  CHECK(command.overrides[0].value == "4");  // the last of a repeated option
  CHECK(command.overrides[1].source == "--set train.batch");
  CHECK(command.overrides[1].value == "2");
  CHECK(command.overrides[2].key == "data.classes");
  CHECK(command.overrides[2].value == "[a, b]");
  CHECK(command.overrides[3].value == "a=b");
  CHECK(command.overrides[4].value.empty());
}

TEST_CASE("train's flags") {
  const TrainCommand command = train({"-c", "a", "-n", "-q", "--profile", "--resume", "latest"});
  CHECK(command.dry_run);
  CHECK(command.profile);
  CHECK(command.verbosity == Verbosity::Quiet);
  CHECK(command.resume == "latest");
  CHECK(train({"-c", "a", "--verbose"}).verbosity == Verbosity::Verbose);
  CHECK_FALSE(train({"--resume", "runs/x"}).config_path.has_value());
}

TEST_CASE("sample's options") {
  const SampleCommand defaults = sample({"sample", "--checkpoint", "c"});
  CHECK(defaults.checkpoint == "c");
  CHECK(defaults.classes.empty());
  CHECK(defaults.seed == 1);
  CHECK(defaults.rows == 10);
  CHECK(defaults.out == "samples.png");
  CHECK(defaults.device == "auto");
  CHECK(defaults.weights == GeneratorWeights::Average);
  CHECK(sample({"sample", "--checkpoint", "c", "--singles"}).out == "samples");
  CHECK(sample({"sample", "--checkpoint", "c", "--weights", "live"}).weights ==
        GeneratorWeights::Live);
  CHECK_THROWS_WITH(sample({"sample", "--checkpoint", "c", "--weights", "ema"}),
                    Catch::Contains("--weights must be average or live, found 'ema'"));
  const SampleCommand command = sample({"sample", "--checkpoint", "c", "--classes", "cat,dog",
                                        "--seed", "18446744073709551615", "--rows", "3", "--out",
                                        "x.npy", "--device", "cuda:2", "--threads", "1"});
  CHECK(command.classes == Arguments{"cat", "dog"});
  CHECK(command.seed == 18446744073709551615u);
  CHECK(command.rows == 3);
  CHECK(command.out == "x.npy");
  CHECK(command.device == "cuda:2");
  CHECK(command.threads == 1);
  CHECK(sample({"sample", "--checkpoint", "c", "--classes", "all"}).classes.empty());
  CHECK(sample({"sample", "--checkpoint", "c", "--class", "tea, green", "--classes", "cat,dog",
                "--class", "all"})
            .classes == Arguments{"cat", "dog", "tea, green", "all"});
}

TEST_CASE("evaluate takes a checkpoint, or images with a config") {
  const auto evaluate = [](const Arguments& arguments) {
    return std::get<EvaluateCommand>(parse_command_line(arguments));
  };
  const EvaluateCommand plain = evaluate({"evaluate", "--checkpoint", "c"});
  CHECK(plain.checkpoint == "c");
  CHECK(plain.samples == 5000);
  CHECK(plain.seed == 1);
  CHECK_FALSE(plain.out.has_value());
  CHECK(plain.overrides.empty());
  const EvaluateCommand full =
      evaluate({"evaluate", "--images", "i.npy", "--labels", "l.npy", "-c", "a.yaml", "--seed", "9",
                "--out", "o", "--data", "d", "--set", "data.image_size=32"});
  CHECK(full.images == "i.npy");
  CHECK(full.labels == "l.npy");
  CHECK(full.config_path == "a.yaml");
  CHECK(full.seed == 9);
  CHECK(full.out == "o");
  CHECK(evaluate({"evaluate", "--checkpoint", "c", "--samples", "8"}).samples == 8);
  CHECK_FALSE(plain.feature_net.has_value());
  const auto net = evaluate({"evaluate", "--checkpoint", "c", "--feature-net", "n"}).feature_net;
  REQUIRE(net.has_value());
  CHECK(net->file == "n");
  CHECK(net->scale == "unit");
  for (const char* scale : {"unit", "symmetric", "imagenet", "bytes"}) {
    CHECK(
        evaluate({"evaluate", "--checkpoint", "c", "--feature-net", "n", "--feature-scale", scale})
            .feature_net->scale == scale);
  }
  REQUIRE(full.overrides.size() == 2);
  CHECK(full.overrides[0].key == "data.path");
  CHECK(full.overrides[1].key == "data.image_size");
}

TEST_CASE("what sample draws") {
  const auto parsed = [](const Arguments& options) {
    Arguments arguments{"sample", "--checkpoint", "c"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return sample(arguments);
  };
  CHECK(parsed({}).picture == SamplePicture::Classes);
  const SampleCommand walk = parsed({"--interpolate", "latents"});
  CHECK(walk.picture == SamplePicture::LatentWalk);
  CHECK(walk.rows == 1);
  CHECK(walk.steps == 9);
  CHECK(parsed({"--interpolate", "latents", "--rows", "3"}).rows == 3);
  const SampleCommand classes = parsed({"--interpolate", "classes", "--steps", "4"});
  CHECK(classes.picture == SamplePicture::ClassWalk);
  CHECK(classes.rows == 10);
  CHECK(classes.steps == 4);
  const SampleCommand nearest = parsed({"--nearest", "pixels", "--data", "d"});
  CHECK(nearest.picture == SamplePicture::Nearest);
  CHECK(nearest.data == "d");
  const SampleCommand animation = sample({"sample", "--animate", "runs/1"});
  CHECK(animation.picture == SamplePicture::Animation);
  CHECK(animation.run == "runs/1");
  CHECK(animation.out == "runs/1/samples/progress.webp");
  CHECK(sample({"sample", "--animate", "r", "--out", "x.webp"}).out == "x.webp");
}

TEST_CASE("every command has a help that names its options") {
  CHECK_THAT(printed({"--version"}), Catch::StartsWith("acgan-train ") && Catch::EndsWith("\n"));
  for (const Arguments& arguments : {Arguments{"--help"}, Arguments{"-h"},
                                     Arguments{"train", "--help"}, Arguments{"sample", "--help"},
                                     Arguments{"evaluate", "--help"}, Arguments{"devices", "-h"}}) {
    CHECK_THAT(printed(arguments), Catch::Contains("Usage: acgan-train"));
  }
  CHECK_THAT(printed({"--help"}), Catch::Contains("acgan-train evaluate --checkpoint PATH"));
  CHECK_THAT(printed({"evaluate", "--help"}), Catch::Contains("--samples N") &&
                                                  Catch::Contains("kernel distance") &&
                                                  Catch::Contains("an integer from 8 to"));
  const std::string help = printed({"train", "--help"});
  for (const char* part :
       {"--precision MODE", "one of fp32, mixed;", "--sample-at", "-n,--dry-run",
        "an integer from 2 to 65536; default 64", "--set KEY=VALUE", "-c,--config FILE",
        "precision.growth_interval", "optimizer.learning_rate.q", "--objective"}) {
    CHECK_THAT(help, Catch::Contains(part));
  }
  CHECK_THAT(printed({"-c", "missing.yaml", "--help"}), Catch::Contains("--precision MODE"));
}

TEST_CASE("usage errors say what is wrong and where help is") {
  struct Case {
    Arguments arguments;
    std::string message;
  };
  const std::string train_help = "; see acgan-train train --help";
  const std::string sample_help = "; see acgan-train sample --help";
  const std::string evaluate_help = "; see acgan-train evaluate --help";
  const Case cases[] = {
      {{}, "expected a command or -c CONFIG.yaml; see acgan-train --help"},
      {{"assess"},
       "unknown command 'assess', expected train, bench, sample, evaluate, export, report or "
       "devices; see "
       "acgan-train --help"},
      {{""},
       "unknown command '', expected train, bench, sample, evaluate, export, report or devices; "
       "see "
       "acgan-train "
       "--help"},
      {{"train"}, "expected a config (-c FILE.yaml), found none" + train_help},
      {{"-n"}, "expected a config (-c FILE.yaml), found none" + train_help},
      {{"--resume", "latest"}, "expected a config (-c FILE.yaml), found none" + train_help},
      {{"-c", "a", "--bacth", "3"},
       "unknown option '--bacth', did you mean '--batch'?" + train_help},
      {{"-c", "a", "--bacth=3"}, "unknown option '--bacth', did you mean '--batch'?" + train_help},
      {{"train", "a.yaml"}, "unexpected argument 'a.yaml'" + train_help},
      {{"-c", "a", "--set", "x=1", "y=2"}, "unexpected argument 'y=2'" + train_help},
      {{"-c", "a", "--set", "train.batch"},
       "--set: expected KEY=VALUE, found 'train.batch'" + train_help},
      {{"-c", "a", "--set", "=3"}, "--set: expected KEY=VALUE, found '=3'" + train_help},
      {{"-c", "a", "-q", "-v"}, "--quiet and --verbose exclude each other" + train_help},
      {{"sample"}, "expected --checkpoint PATH, found none" + sample_help},
      {{"sample", "--checkpoint", "c", "--interpolate", "up"},
       "--interpolate must be latents or classes, found 'up'" + sample_help},
      {{"sample", "--checkpoint", "c", "--interpolate", "latents", "--steps", "1"},
       "--steps must be an integer from 2 to 1000, found '1'" + sample_help},
      {{"sample", "--checkpoint", "c", "--steps", "3"},
       "--steps is for --interpolate only" + sample_help},
      {{"sample", "--checkpoint", "c", "--data", "d"},
       "--data is for --nearest only" + sample_help},
      {{"sample", "--checkpoint", "c", "--nearest", "text"},
       "--nearest must be pixels, found 'text'" + sample_help},
      {{"sample", "--checkpoint", "c", "--nearest", "pixels", "--singles"},
       "--nearest and --singles exclude each other" + sample_help},
      {{"sample", "--checkpoint", "c", "--animate", "r"},
       "--animate and --checkpoint exclude each other" + sample_help},
      {{"sample", "--checkpoint", "c", "--rows", "0"},
       "--rows must be an integer from 1 to 10000, found '0'" + sample_help},
      {{"sample", "--checkpoint", "c", "--seed", "-1"},
       "--seed must be an integer from 0 to 18446744073709551615, found '-1'" + sample_help},
      {{"sample", "--checkpoint", "c", "--threads", "two"},
       "--threads must be an integer from 0 to 4096, found 'two'" + sample_help},
      {{"sample", "--checkpoint", "c", "--device", "gpu"},
       "--device must be auto, cpu, cuda, cuda:N, or one CPU backend: onednn, packed, host, found "
       "'gpu'" +
           sample_help},
      {{"sample", "--checkpoint", "c", "--classes", "all", "--class", "x"},
       "--class and --classes all exclude each other" + sample_help},
      {{"sample", "--checkpoint", "c", "--out", ""},
       "--out must name a file or a folder, found nothing" + sample_help},
      {{"evaluate"}, "expected one of --checkpoint PATH and --images PATH" + evaluate_help},
      {{"evaluate", "--checkpoint", "c", "--images", "i"},
       "expected one of --checkpoint PATH and --images PATH" + evaluate_help},
      {{"evaluate", "--images", "i"},
       "--images needs a config that names the real data: -c" + evaluate_help},
      {{"evaluate", "--checkpoint", "c", "-c", "a"},
       "-c and --labels belong to --images; a checkpoint names its data itself" + evaluate_help},
      {{"evaluate", "--checkpoint", "c", "--feature-scale", "unit"},
       "--feature-scale belongs to --feature-net" + evaluate_help},
      {{"evaluate", "--checkpoint", "c", "--feature-net", "n", "--feature-scale", "0-1"},
       "--feature-scale must be one of unit, symmetric, imagenet, bytes, found '0-1'" +
           evaluate_help},
      {{"evaluate", "--checkpoint", "c", "--feature-net", ""},
       "--feature-net must name a file, found nothing" + evaluate_help},
      {{"evaluate", "--checkpoint", "c", "--samples", "7"},
       "--samples must be an integer from 8 to 100000, found '7'" + evaluate_help},
      {{"devices", "--all"},
       "unknown option '--all', did you mean '--help'?; see acgan-train devices --help"},
  };
  for (const Case& bad : cases) CHECK(refusal(bad.arguments) == bad.message);
  CHECK_THAT(refusal({"-c"}), Catch::Contains("--config") && Catch::EndsWith(train_help));
}

}  // namespace acgan::test
