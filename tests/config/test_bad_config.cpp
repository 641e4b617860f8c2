#include <catch2/catch.hpp>
#include <random>

#include "base/error.h"
#include "config/config_file.h"

namespace acgan::test {

namespace {

struct BadConfig {
  std::string yaml, message;
};

}  // namespace

TEST_CASE("unknown keys are named with line, nearest key and what the section has") {
  const std::string train =
      "('train' has batch, steps, minutes, seed, device, threads, objective, "
      "conv, allow_tf32, ema, ema_rampup, loss, label_smoothing, label_sampling, d_steps, "
      "classify_fakes_in_d, augment)";
  const std::string top = "(the top level has data, model, precision, optimizer, train, output)";
  const BadConfig cases[] = {
      {"# c\ntrain:\n  bacth: 64\n",
       "FILE:3: unknown key 'train.bacth', did you mean 'train.batch'? " + train},
      {"train: {batch: 2,\n  keep: 3}",
       "FILE:2: unknown key 'train.keep', did you mean 'output.keep'? " + train},
      {"batch: 64", "FILE:1: unknown key 'batch', did you mean 'train.batch'? " + top},
      {"\n\ntrian: {batch: 64}", "FILE:3: unknown key 'trian', did you mean 'train'? " + top},
      {"Train: {batch: 64}", "FILE:1: unknown key 'Train', did you mean 'train'? " + top},
      {"train.batch: 64", "FILE:1: unknown key 'train.batch', keys are nested in YAML, not dotted"},
      {"optimizer: {learning_rate: {d: 1, s: 1}}",
       "FILE:1: unknown key 'optimizer.learning_rate.s', did you mean "
       "'optimizer.learning_rate.d'? ('optimizer.learning_rate' has d, g, q)"},
      {"<<: {train: {batch: 2}}", "FILE:1: unknown key '<<', did you mean 'data'? " + top},
  };
  for (const BadConfig& bad : cases) CHECK(ConfigFile(bad.yaml).refusal() == bad.message);
}

TEST_CASE("a hostile key costs little and is cut in the message") {
  const std::string message = ConfigFile("? " + std::string(500000, 'k') + "\n: 1\n").refusal();
  CHECK_THAT(message, Catch::StartsWith("FILE:1: unknown key 'kkk"));
  CHECK(message.size() < 500);
}

TEST_CASE("files that are no config are refused in one sentence") {
  const std::string keys = "(data, model, precision, optimizer, train, output)";
  const BadConfig cases[] = {
      {"", "FILE: expected a config, found no key at all"},
      {"# only a comment\n", "FILE: expected a config, found no key at all"},
      {"~", "FILE: expected a config, found no key at all"},
      {"- data\n- train\n", "FILE:1: a config must be a map of keys " + keys + ", found a list"},
      {"\nbatch 64\n", "FILE:2: a config must be a map of keys " + keys + ", found 'batch 64'"},
      {"train:\n  batch: 2\n  steps: 1\n  batch: 3\n",
       "FILE:4: key 'train.batch' stands twice, first in line 2; keep one of the two"},
      {"train: {batch: 2}\n\ntrain: {steps: 2}\n",
       "FILE:3: key 'train' stands twice, first in line 1; keep one of the two"},
      {"train: {batch: 2}\n---\ntrain: {batch: 3}\n",
       "FILE:2: expected one YAML document, found a second one or a stray character"},
      {", train: {batch: 2}",
       "FILE:1: expected one YAML document, found a second one or a stray character"},
      {"train: {batch: 2}\n]", "FILE:2: not valid YAML: illegal flow end"},
      {"train:\n",
       "FILE:1: train must be a map of keys (batch, steps, minutes, seed, device, "
       "threads, objective, conv, allow_tf32, ema, ema_rampup, loss, label_smoothing, "
       "label_sampling, d_steps, classify_fakes_in_d, augment), found nothing"},
      {"data:\n  - kind\n",
       "FILE:1: data must be a map of keys (kind, path, classes, "
       "limit_per_class, image_size, channels, only_recognized, labels, skip_unreadable, cache, "
       "doodles_per_class, held_out, flip), found a list"},
      {"train: 5",
       "FILE:1: train must be a map of keys (batch, steps, minutes, seed, device, "
       "threads, objective, conv, allow_tf32, ema, ema_rampup, loss, label_smoothing, "
       "label_sampling, d_steps, classify_fakes_in_d, augment), found '5'"},
      {"train: {[a]: 1}", "FILE:1: keys must be plain names, found a list"},
      {"train: &x {batch: *x}",
       "FILE:1: train.batch must be an integer from 2 to 65536, found a map"},
      {"data: {classes: &x [*x]}",
       "FILE:1: data.classes must be a list [..] of names, each once, found a list"},
  };
  for (const BadConfig& bad : cases) CHECK(ConfigFile(bad.yaml).refusal() == bad.message);
}

TEST_CASE("YAML syntax errors name the line") {
  const BadConfig cases[] = {
      {"train:\n  batch: [1,\n", "FILE:3: not valid YAML: "},
      {"train: {batch: 2}\n\tsteps: 3\n", "FILE:2: not valid YAML: "},
      {"data: {path: \"open\n", "FILE:2: not valid YAML: "},
      {"train:\n  batch: 1\n bad: 2\n", "FILE:3: not valid YAML: "},
      {"train: *nowhere\n", "FILE:1: not valid YAML: "},
      {std::string(100000, '['), "FILE:1: not valid YAML: "},
      {std::string("train: {batch: 2}\n\0\x01\x02", 21), "FILE:"},
  };
  for (const BadConfig& bad : cases) {
    CAPTURE(bad.yaml.substr(0, 100));
    CHECK_THAT(ConfigFile(bad.yaml).refusal(), Catch::StartsWith(bad.message));
  }
}

TEST_CASE("paths that are no config file are refused") {
  const TemporaryFolder folder;
  const auto refusal = [](const std::string& path) {
    try {
      load_config(path, {});
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Usage);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string missing = folder / "missing.yaml";
  CHECK(refusal(missing) == missing + ": cannot read the config file: No such file or directory");
  CHECK(refusal(folder.path()) == folder.path() + ": expected a YAML config file, found a folder");
  write_text(folder / "config.yaml", "train: {batch: 2}");
  CHECK(refusal(folder.path()) == folder.path() +
                                      ": expected a YAML config file, found a folder; its "
                                      "config.yaml can be given");
  const std::string big = folder / "big.yaml";
  write_text(big, std::string((1 << 20) + 1, '#'));
  CHECK(refusal(big) == big + ": expected a YAML config file, found more than 1 MiB");
}

TEST_CASE("integers are integers in their range") {
  const std::string batch = "train.batch must be an integer from 2 to 65536, found ";
  const BadConfig cases[] = {
      {"64.0", "'64.0'"},
      {"1e2", "'1e2'"},
      {"0x40", "'0x40'"},
      {"1", "'1'"},
      {"65537", "'65537'"},
      {"-64", "'-64'"},
      {"abc", "'abc'"},
      {"64 64", "'64 64'"},
      {"\"64\"", "the quoted text '64'"},
      {"true", "'true'"},
      {"", "nothing"},
      {"~", "nothing"},
      {"[64]", "a list"},
      {"{a: 1}", "a map"},
      {"99999999999999999999",
       "'9999999999999999"
       "9999'"},
      {"'" + std::string(70, 'x') + "'", "the quoted text '" + std::string(60, 'x') + "...'"},
      {"+-3", "'+-3'"},
      {"6_4", "'6_4'"},
      {"nan", "'nan'"},
  };
  for (const BadConfig& bad : cases) {
    CHECK(ConfigFile("train:\n  batch: " + bad.yaml + "\n").refusal() ==
          "FILE:2: " + batch + bad.message);
  }
}

TEST_CASE("every key has its range") {
  struct Edge {
    std::string key;
    std::vector<std::string> refused, taken;
  };
  const std::vector<std::string> no_number{"nan", ".nan", "inf",   ".inf", "-1",  "x",
                                           "'1'", "1e40", "1e999", "[1]",  "true"};
  const Edge edges[] = {
      {"data.kind", {"Doodles", "minst", "1", "[doodles]"}, {"doodles", "'doodles'"}},
      {"data.path", {"[a]", "~", "{a: 1}"}, {"a", "12", "''"}},
      {"data.classes", {"cat", "[a, b, a]", "[a, ~]", "[[a]]", "['']"}, {"[]", "[a, b]", "[1]"}},
      {"data.limit_per_class", {"-1", "1.5", "1000000001"}, {"0", "1000000000"}},
      {"data.image_size", {"4", "30", "260", "28.0"}, {"8", "256", "28"}},
      {"data.channels", {"3", "2", "4", "-1", "x"}, {"0", "1"}},  // doodles are grey
      {"data.only_recognized", {"1", "yes", "True", "~"}, {"true", "false"}},
      {"data.labels", {"Fine", "both", "1"}, {"fine", "coarse"}},
      {"data.skip_unreadable", {"yes", "1", "True"}, {"true", "false"}},
      {"data.cache", {"no", "0"}, {"true", "false"}},
      {"data.doodles_per_class", {"0", "1000001"}, {"1", "1000000"}},
      {"data.held_out", {"-0.1", "0.6", "x", "0.1"}, {"0"}},  // doodles need none
      {"data.flip", {"1", "yes"}, {"true", "false"}},
      {"model.preset", {"Study", "resnet", "1", "resnet32"}, {"study"}},  // image_size is 28
      {"model.latent_dim", {"0", "65537", "1.5"}, {"1", "65536"}},
      {"model.dense_width", {"0", "65537"}, {"1", "65536"}},
      {"model.conv1_width", {"0", "65537"}, {"1", "65536"}},
      {"model.conv2_width", {"0", "65537"}, {"1", "65536"}},
      {"model.generator_width", {"0", "65537", "256"}, {}},  // study has none
      {"model.discriminator_width", {"0", "65537", "128"}, {}},
      {"model.classifier_width", {"0", "65537"}, {"1", "65536"}},
      {"model.spectral_norm", {"yes", "1"}, {"true", "false"}},
      {"precision.mode", {"fp16", "FP32", "true"}, {"fp32", "mixed"}},
      {"precision.half", {"half", "fp32"}, {"auto", "fp16", "bf16"}},
      {"precision.loss_scale", {"0", "Dynamic", "auto", "1e-50"}, {"dynamic", "1", "1.5e3"}},
      {"precision.init_scale", {"0", "0.5", "16777217"}, {"1", "16777216"}},  // min, max
      {"precision.growth_factor", {"1", "0.5", "1.000000000001"}, {"1.01", "2"}},
      {"precision.backoff_factor", {"0", "1", "1.5", "0.999999999999"}, {"0.99", "1e-3"}},
      {"precision.growth_interval", {"0", "2.5"}, {"1", "1000000000"}},
      {"precision.min_scale", {"0", "65537"}, {"1e-3", "65536"}},  // init_scale
      {"precision.max_scale", {"0", "65535"}, {"65536", "1e30"}},
      {"precision.max_consecutive_skips", {"0", "-1"}, {"1"}},
      {"optimizer.learning_rate", {"0", "1e-50"}, {"1e-6", "1e30", "{d: 1}"}},
      {"optimizer.learning_rate.d", {"0"}, {"1e-6"}},
      {"optimizer.learning_rate.g", {"0"}, {"1e-6"}},
      {"optimizer.learning_rate.q", {"0"}, {"1e-6"}},
      {"optimizer.beta1", {"1", "0.99999999999"}, {"0", "0.5", "0.9999"}},
      {"optimizer.beta2", {"1"}, {"0", "0.999"}},
      {"optimizer.epsilon", {"0", "2"}, {"1e-12", "1"}},
      {"optimizer.schedule", {"Linear", "step", "linear", "cosine"}, {"constant"}},  // no end
      {"optimizer.warmup_steps", {"-1", "1.5"}, {"0", "1000"}},
      {"optimizer.decay_steps", {"-1", "1e3"}, {"0", "1000"}},
      {"optimizer.decay_to", {"-0.1", "1.1", "x"}, {"0", "0.5", "1"}},
      {"train.batch", {"1", "65537"}, {"2", "65536"}},
      {"train.steps", {"-1", "1e3"}, {"0", "1000000000000"}},
      {"train.minutes", {"-1", "nan", "1e8", "7d", "0"}, {"0.001", "90s", "'1.5h'"}},
      {"train.seed", {"-1", "18446744073709551616", "1.5", "any"}, {"0", "random"}},
      {"train.device",
       {"gpu", "cuda:", "cuda:-1", "cuda:+1", "cuda:x", "CPU", "'cuda:1 '"},
       {"auto", "cpu", "cuda", "cuda:0", "cuda:15", "host"}},
      {"train.threads", {"-1", "4097"}, {"0", "4096"}},
      {"train.objective", {"DGQ", "gan"}, {"dgq", "joint"}},
      {"train.conv", {"cuDNN", "ours", "true"}, {"auto", "handwritten", "cudnn"}},
      {"train.allow_tf32", {"1", "yes", "True", "~"}, {"true", "false"}},
      {"train.ema", {"1", "-0.1", "0.99999999999", "x"}, {"0", "0.999"}},
      {"train.ema_rampup", {"-1", "0.5"}, {"0", "10"}},
      {"train.loss", {"wgan", "BCE"}, {"bce", "hinge"}},
      {"train.label_smoothing", {"0.5", "-0.1"}, {"0", "0.1"}},
      {"train.label_sampling", {"uniform", "true"}, {"data", "even", "frequency"}},
      {"train.d_steps", {"0", "101", "1.5"}, {"1", "100"}},
      {"train.classify_fakes_in_d", {"yes", "0"}, {"true", "false"}},
      {"train.augment",
       {"color", "[colour]", "[color, color]", "[~]", "[[color]]"},
       {"[]", "[color, translation, cutout]", "[cutout]"}},
      {"output.dir", {"''", "~", "[a]"}, {"runs", "1"}},
      {"output.sample_every", {"-1", "x"}, {"0", "30s"}},
      {"output.sample_at", {"3", "[1, x]", "[-1]", "{a: 1}"}, {"[]", "[1, 90s]"}},
      {"output.save_every", {"-1", "x"}, {"0", "30s"}},
      {"output.keep", {"0", "1.5"}, {"1"}},
      {"output.rows", {"0", "101"}, {"1", "100"}},
      {"output.on_write_error", {"go on", "true"}, {"stop", "continue"}},
      {"output.evaluate_every", {"-1", "x"}, {"0", "30s"}},
      {"output.best_by", {"fid", "true", "[kid]"}, {"auto", "none"}},
      {"output.report", {"1", "yes"}, {"true", "false"}},
      {"output.animation", {"webp", "True"}, {"true", "false"}},
      {"output.tensorboard", {"logs", "~"}, {"true", "false"}},
  };
  const ConfigFile file("data: {kind: doodles}");
  for (const Edge& edge : edges) {
    for (const std::string& value : edge.refused) {
      const std::string message = file.refusal({{"--set", edge.key, value}});
      CAPTURE(value, message);
      CHECK_THAT(message, Catch::StartsWith("--set: ") &&
                              Catch::Contains(edge.key.substr(edge.key.rfind('.') + 1)));
    }
    for (const std::string& value : edge.taken) {
      CAPTURE(edge.key, value);
      CHECK(file.refusal({{"--set", edge.key, value}}).empty());
    }
    CHECK_FALSE(edge.refused.empty());
  }
  for (const char* key : {"precision.init_scale", "precision.growth_factor", "optimizer.epsilon",
                          "optimizer.learning_rate", "optimizer.learning_rate.g", "optimizer.beta1",
                          "precision.loss_scale"}) {
    for (const std::string& value : no_number) {
      CAPTURE(key, value);
      CHECK_THAT(file.refusal({{"--set", key, value}}), Catch::Contains(key));
    }
  }
}

TEST_CASE("messages say what is allowed") {
  const BadConfig cases[] = {
      {"precision: {mode: fp16}",
       "FILE:1: precision.mode must be one of fp32, mixed, found 'fp16'"},
      {"data: {image_size: 30}",
       "FILE:1: data.image_size must be a multiple of 4 from 8 to 256, found '30'"},
      {"optimizer: {beta1: 1}",
       "FILE:1: optimizer.beta1 must be a number of at least 0 and below 1, found '1'"},
      {"optimizer: {learning_rate: [1, 2, 3]}",
       "FILE:1: optimizer.learning_rate must be a number above 0 and at most 1e+30, or a map {d: "
       ".., g: .., q: ..} of such numbers, found a list"},
      {"precision: {loss_scale: false}",
       "FILE:1: precision.loss_scale must be dynamic, or a number of at least 1e-30 and at most "
       "1e+30, found 'false'"},
      {"train: {minutes: 7d}",
       "FILE:1: train.minutes must be minutes from 0 to 1e7, or with a unit (90s, 7m, 1.5h), found "
       "'7d'"},
      {"data:\n  classes:\n    - cat\n    - dog\n    - cat\n",
       "FILE:5: data.classes must be a list [..] of names, each once, found 'cat' twice"},
      {"output:\n  sample_at: [1,\n    soon]\n",
       "FILE:3: output.sample_at must be a list [..] of minutes from 0 to 1e7, or with a unit "
       "(90s, "
       "7m, 1.5h), found 'soon'"},
  };
  for (const BadConfig& bad : cases) CHECK(ConfigFile(bad.yaml).refusal() == bad.message);
}

TEST_CASE("settings must fit together, and the one to change is named") {
  const BadConfig cases[] = {
      {"data: {kind: quickdraw}",
       "FILE: data.path is missing, kind quickdraw needs the folder of its data set there or in "
       "--data"},
      {"data:\n  kind: folder\n  path: ''\n",
       "FILE:3: data.path is missing, kind folder needs the folder of its data set there or in "
       "--data"},
      {"data:\n  kind: cifar10\n  path: p\n  image_size: 28\n",
       "FILE:4: data.image_size must be 32 for kind cifar10, found 28"},
      {"data: {kind: mnits}",
       "FILE:1: data.kind must be one of quickdraw, cifar10, cifar100, mnist, fashion-mnist, "
       "folder, "
       "doodles, found 'mnits'"},
      {"data: {kind: mnist}",
       "FILE: data.path is missing, kind mnist needs the folder of its data set there or in "
       "--data"},
      {"data: {kind: mnist, path: p, channels: 3}",
       "FILE:1: data.channels must be 1 (or 0) for kind mnist, found 3"},
      {"data: {kind: cifar100, path: p, image_size: 28}",
       "FILE:1: data.image_size must be 32 for kind cifar100, found 28"},
      {"data:\n  kind: cifar10\n  path: p\n  channels: 1\n",
       "FILE:4: data.channels must be 3 (or 0) for kind cifar10, found 1"},
      {"data: {kind: cifar10, path: p,\n  held_out: 0.1}",
       "FILE:2: data.held_out must be 0 for kind cifar10, which has held-out images of its own, "
       "found 0.1"},
      {"data: {kind: quickdraw, path: p,\n  channels: 3}",
       "FILE:2: data.channels must be 1 (or 0) for kind quickdraw, found 3"},
      {"train:\n  minutes: 0\n",
       "FILE:2: train.steps and train.minutes are both 0, one of them must end the run"},
      {"precision:\n  min_scale: 8\n  max_scale: 4\n",
       "FILE:2: precision.min_scale must be at most max_scale, found 8 and 4"},
      {"precision:\n  min_scale: 2\n  init_scale: 1\n",
       "FILE:3: precision.init_scale must be from min_scale to max_scale, 2 to 16777216, found 1"},
      {"precision:\n  max_scale: 1024\n",
       "FILE:2: precision.init_scale must be from min_scale to max_scale, 1 to 1024, found 65536"},
  };
  for (const BadConfig& bad : cases) CHECK(ConfigFile(bad.yaml).refusal() == bad.message);
}

TEST_CASE("errors in options name the option instead of a line") {
  const ConfigFile file("data: {kind: doodles}");
  CHECK(file.refusal({{"--batch", "train.batch", "1"}}) ==
        "--batch: train.batch must be an integer from 2 to 65536, found '1'");
  CHECK(file.refusal({{"--set trian.batch", "trian.batch", "64"}}) ==
        "--set trian.batch: unknown key 'trian.batch', did you mean 'train.batch'? (the top level "
        "has data, model, precision, optimizer, train, output)");
  CHECK_THAT(file.refusal({{"--set data.classes", "data.classes", "[cat"}}),
             Catch::StartsWith("--set data.classes: not valid YAML: "));
  CHECK(file.refusal({{"--set", "train", "{batch: 2, batch: 3}"}}) ==
        "--set: key 'train.batch' stands twice; keep one of the two");
  CHECK(file.refusal({{"--set", "", "5"}}) ==
        "--set: a config must be a map of keys (data, model, precision, optimizer, train, output), "
        "found '5'");
  // The file's key was fine until the option changed what it must fit to.
  CHECK(file.refusal({{"--minutes", "train.minutes", "0"}}) ==
        "--minutes: train.steps and train.minutes are both 0, one of them must end the run");
}

// Nine lists of ten references each: a thousand million names, if somebody followed them all.
TEST_CASE("references to references are not followed without end") {
  std::string yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i <= 9; ++i) {
    yaml += fmt::format("a{0}: &a{0} [", i);
    for (int j = 0; j < 10; ++j) yaml += fmt::format("{}*a{}", j == 0 ? "" : ", ", i - 1);
    yaml += "]\n";
  }
  CHECK_THAT(ConfigFile(yaml).refusal(), Catch::StartsWith("FILE:1: unknown key 'a0'"));
  yaml += "data: {classes: *a9}\n";
  CHECK_THAT(ConfigFile(yaml.substr(yaml.find('\n') + 1)).refusal(), Catch::StartsWith("FILE:"));
  // In the one place that takes a list they are items of a wrong kind.
  std::string in_place = "data: {classes: [";
  for (int i = 0; i < 9; ++i) in_place += fmt::format("&b{} [", i);
  in_place += "x";
  for (int i = 0; i < 9; ++i) in_place += fmt::format("], *b{}", 8 - i);
  CHECK_THAT(ConfigFile(in_place + "]}").refusal(), Catch::Contains("data.classes must be"));
}

TEST_CASE("a file of nothing but brackets is refused, however deep") {
  for (const char* const bracket : {"[", "{", "- ", "? ", "{a: "}) {
    std::string yaml;
    while (yaml.size() < 1000000) yaml += bracket;
    CAPTURE(bracket);
    CHECK_THAT(ConfigFile(yaml).refusal(), Catch::StartsWith("FILE"));
  }
}

TEST_CASE("damaged files are read or refused, never worse") {
  const std::string yaml =
      "data: {kind: folder, path: 'a b', classes: [x, \"y\"]}\noptimizer:\n  learning_rate:\n"
      "    d: 1.0e-3\ntrain:\n  batch: 64\n  minutes: 90s\noutput:\n  sample_at:\n  - 1\n  - 2m\n";
  const std::string symbols = "{}[]:,#&*!|>'\"%@`-?~.\n\t 0a\xff";
  std::mt19937 random(7);
  int refused = 0;
  constexpr int kTimes = 1500;
  for (int i = 0; i < kTimes; ++i) {
    std::string damaged = yaml;
    for (std::size_t hits = 1 + random() % 3; hits > 0; --hits) {
      const std::size_t at = random() % damaged.size();
      if (random() % 4 == 0) damaged.erase(at, 1 + random() % 5);
      damaged.insert(std::min(at, damaged.size()), 1, symbols[random() % symbols.size()]);
    }
    CAPTURE(damaged);
    const ConfigFile file(damaged);
    // Whatever is no Error leaves refusal() and fails the test.
    const std::string message = file.refusal();
    CHECK(message != "an error of another kind");
    if (message.empty()) continue;
    CHECK_THAT(message, Catch::StartsWith("FILE"));
    ++refused;
  }
  CHECK(refused > kTimes / 4);
  CHECK(refused < kTimes);
}

}  // namespace acgan::test
