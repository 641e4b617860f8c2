#include <catch2/catch.hpp>

#include "config/config_file.h"
#include "config/config_keys.h"

namespace acgan::test {

TEST_CASE("keys that are not given have the defaults of config.h") {
  const Config config = ConfigFile("train:\n  batch: 3\n").load();
  CHECK(config.train.batch == 3);
  CHECK(config.train.minutes == 7);
  CHECK(config.train.seed == 1u);
  CHECK(config.data.kind == DataKind::Doodles);
  CHECK(config.data.image_size == 28);
  CHECK_FALSE(config.precision.loss_scale.has_value());
  CHECK(config.name == "some");
}

TEST_CASE("all forms of values are read") {
  const Config config = ConfigFile(R"(
data: {kind: folder, path: "my # data", classes: [cat, 'null', "7"], channels: 3, image_size: 64}
precision: {mode: mixed, half: bf16, loss_scale: 128, growth_factor: 1.5}
optimizer:
  learning_rate: {d: 1e-3, q: .5}
  beta1: 0
train:
  steps: +12
  minutes: 90s
  seed: 18446744073709551615
  device: cuda:1
  objective: joint
  conv: handwritten
  allow_tf32: true
output:
  sample_every: "1.5h"
  sample_at:
    - 30s
    - 2
)")
                            .load();
  CHECK(config.data.kind == DataKind::Folder);
  CHECK(config.data.path == "my # data");
  CHECK(config.data.classes == std::vector<std::string>{"cat", "null", "7"});
  CHECK(config.data.channels == 3);
  CHECK(config.precision.mode == PrecisionMode::Mixed);
  CHECK(config.precision.half == HalfType::Bf16);
  CHECK(config.precision.loss_scale == 128.0);
  CHECK(config.precision.growth_factor == 1.5);
  CHECK(config.optimizer.learning_rate.d == 1e-3);
  CHECK(config.optimizer.learning_rate.g == 2e-4);
  CHECK(config.optimizer.learning_rate.q == 0.5);
  CHECK(config.optimizer.beta1 == 0);
  CHECK(config.train.steps == 12);
  CHECK(config.train.minutes == 1.5);
  CHECK(config.train.seed == 18446744073709551615u);
  CHECK(config.train.device == "cuda:1");
  CHECK(config.train.objective == Objective::Joint);
  CHECK(config.train.conv == ConvKernels::Handwritten);
  CHECK(config.train.allow_tf32);
  CHECK(config.output.sample_every == 90);
  CHECK(config.output.sample_at == std::vector<double>{0.5, 2});
}

TEST_CASE("one learning rate stands for all three") {
  const Config config = ConfigFile("optimizer: {learning_rate: 0.25}").load();
  CHECK(config.optimizer.learning_rate.d == 0.25);
  CHECK(config.optimizer.learning_rate.g == 0.25);
  CHECK(config.optimizer.learning_rate.q == 0.25);
}

TEST_CASE("options come over the file, later ones over earlier ones") {
  const ConfigFile file("train: {batch: 8, seed: 2}\noutput: {sample_at: [9]}\n");
  const Config config = file.load({{"--batch", "train.batch", "16"},
                                   {"--seed", "train.seed", "random"},
                                   {"--outdir", "output.dir", "\"a: b\""},
                                   {"--sample-at", "output.sample_at", "[90s,3]"},
                                   {"--set train.batch", "train.batch", "32"},
                                   {"--set optimizer", "optimizer", "{learning_rate: {g: 0.5}}"},
                                   {"--set x", "precision.loss_scale", "dynamic"}});
  CHECK(config.train.batch == 32);
  CHECK_FALSE(config.train.seed.has_value());
  CHECK(config.output.dir == "a: b");
  CHECK(config.output.sample_at == std::vector<double>{1.5, 3});
  CHECK(config.optimizer.learning_rate.g == 0.5);
  CHECK(config.optimizer.learning_rate.d == 2e-4);
}

TEST_CASE("CIFAR-10 has its own default image size") {
  const ConfigFile file("data: {kind: cifar10, path: p}");
  CHECK(file.load().data.image_size == 32);
  CHECK(file.load({{"--set", "data.image_size", "32"}}).data.image_size == 32);
  CHECK(file.load({{"--set", "data.channels", "3"}}).data.channels == 3);
}

TEST_CASE("times are minutes or have a unit") {
  CHECK(parse_minutes("7", "x") == 7);
  CHECK(parse_minutes("0", "x") == 0);
  CHECK(parse_minutes("90s", "x") == 1.5);
  CHECK(parse_minutes("7m", "x") == 7);
  CHECK(parse_minutes("1.5h", "x") == 90);
  CHECK(parse_minutes("1e7", "x") == 1e7);
  for (const char* wrong : {"", "s", "7 m", " 7", "7d", "7ms", "-1", "-0.1s", "nan", "inf", "infs",
                            "1e8", "1e6h", "0x10", "1,5", "7mm", "1e999"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH(parse_minutes(wrong, "--x"),
                      "--x: expected minutes from 0 to 1e7, or with a unit (90s, 7m, 1.5h), "
                      "found '" +
                          std::string(wrong) + "'");
  }
}

TEST_CASE("a run is called like its config") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "00012-my-set.v2-mixed-batch64");
  std::filesystem::create_directories(folder / "0001-x-fp32-batch64");
  const auto name_of = [&](const std::string& file) {
    write_text(folder / file, "train: {batch: 4}");
    return load_config(folder / file, {}).name;
  };
  CHECK(name_of("a.b.yaml") == "a.b");
  CHECK(name_of("config.yaml") == "config");
  CHECK(name_of("00012-my-set.v2-mixed-batch64/config.yaml") == "my-set.v2");
  CHECK(name_of("00012-my-set.v2-mixed-batch64/other.yaml") == "other");
  CHECK(name_of("0001-x-fp32-batch64/config.yaml") == "config");
}

// ---- dump

namespace {

// Every key differs from its default, but for train.label_smoothing, which a hinge has no use for,
// and those of the model, whose presets have different ones.
const char* const kNothingDefault = R"(
data:
  kind: folder
  path: "a\"b\\c: # é\n"
  classes: [yes, 'it''s', "two words"]
  limit_per_class: 11
  image_size: 40
  channels: 1
  only_recognized: true
  labels: coarse
  skip_unreadable: true
  cache: false
  doodles_per_class: 12
  held_out: 0.25
  flip: true
precision:
  mode: mixed
  half: fp16
  loss_scale: 0.1
  init_scale: 3.3
  growth_factor: 1.7
  backoff_factor: 0.3
  growth_interval: 18
  min_scale: 0.7
  max_scale: 1.0e+20
  max_consecutive_skips: 19
optimizer: {learning_rate: {d: 0.00012345678901234567, g: 3.0e-4, q: 5.0e-4}, beta1: 0.4,
            beta2: 0.9, epsilon: 1.0e-7, schedule: cosine, warmup_steps: 3, decay_steps: 24,
            decay_to: 0.125}
train: {batch: 21, steps: 22, minutes: 100s, seed: 23, device: "cuda:3", threads: 2,
        objective: joint, conv: cudnn, allow_tf32: true, ema: 0.99, ema_rampup: 7,
        loss: hinge, label_sampling: even, d_steps: 5, classify_fakes_in_d: false,
        augment: [translation, cutout]}
output: {dir: "out put", sample_every: 0.1, sample_at: [1s, 2.5], save_every: 3s, keep: 4, rows: 5,
         on_write_error: continue, evaluate_every: 9, best_by: kid, report: false, animation: true,
         tensorboard: true}
)";

}  // namespace

TEST_CASE("what dump writes reads back equal") {
  const std::string model = GENERATE(
      "{latent_dim: 13, dense_width: 14, conv1_width: 15, conv2_width: 16, "
      "classifier_width: 17, spectral_norm: true}",
      "{preset: resnet32, latent_dim: 13, generator_width: 14, discriminator_width: 15, "
      "classifier_width: 17, spectral_norm: true}");
  const Config first = ConfigFile(kNothingDefault + ("model: " + model)).load();
  const std::string yaml = dump_config(first);
  Config initial;
  initial.model.preset = first.model.preset;
  const std::string defaults = dump_config(initial);
  const Config second = ConfigFile(yaml).load();
  CHECK(dump_config(second) == yaml);
  for (const ConfigKey& key : config_keys()) {
    if (!key.get) continue;
    CAPTURE(key.path);
    if (key.preset && *key.preset != first.model.preset) {
      CHECK_THAT(yaml, !Catch::Contains(key.leaf() + ":"));
      continue;
    }
    CHECK(key.get(second) == key.get(first));
    if (key.path != "train.label_smoothing" && key.path != "model.preset") {
      CHECK(key.get(first) != key.get(initial));  // else the line above shows nothing
    }
    CHECK_THAT(yaml, Catch::Contains(key.leaf() + ": " + key.get(first)));
    CHECK_THAT(defaults, Catch::Contains(key.leaf() + ": " + key.get(initial)));
  }
  // Key by key text could hide a lost digit; these are compared as numbers.
  CHECK(second.data.path == first.data.path);
  CHECK(second.data.path == "a\"b\\c: # \xc3\xa9\n");
  CHECK(second.data.classes == first.data.classes);
  CHECK(second.optimizer.learning_rate.d == first.optimizer.learning_rate.d);
  CHECK(second.train.minutes == first.train.minutes);
  CHECK(second.output.sample_at == first.output.sample_at);
}

TEST_CASE("a drawn seed and a moving loss scale survive dump") {
  const Config config =
      ConfigFile("train: {seed: random}\nprecision: {loss_scale: dynamic}").load();
  const Config again = ConfigFile(dump_config(config)).load();
  CHECK_FALSE(again.train.seed.has_value());
  CHECK_FALSE(again.precision.loss_scale.has_value());
}

TEST_CASE("each model preset has its own keys and image sizes") {
  const std::pair<const char*, const char*> cases[] = {
      {"model:\n  generator_width: 64\n",
       "FILE:2: model.preset study has no model.generator_width, which is of another preset: leave "
       "it out"},
      {"data: {image_size: 32}\nmodel:\n  preset: resnet32\n  conv1_width: 64\n",
       "FILE:4: model.preset resnet32 has no model.conv1_width, which is of another preset: leave "
       "it out"},
      {"model: {preset: resnet32}\ndata:\n  image_size: 28\n",
       "FILE:3: data.image_size must be a multiple of 8 for model.preset resnet32, found 28"},
  };
  for (const auto& [yaml, message] : cases) CHECK(ConfigFile(yaml).refusal() == message);
  // The command line can choose another one than the file that has keys of its own for it.
  const ConfigFile study("data: {image_size: 24}\nmodel: {conv1_width: 8, classifier_width: 9}");
  const ConfigOverride preset{"--set", "model.preset", "resnet32"};
  CHECK(study.load({preset}).model.classifier_width == 9);
  CHECK(study.refusal({preset, {"--set", "model.conv1_width", "8"}}) ==
        "--set: model.preset resnet32 has no model.conv1_width, which is of another preset: leave "
        "it out");
  const Config config =
      ConfigFile("data: {image_size: 24}\nmodel: {preset: resnet32, discriminator_width: 64}")
          .load();
  CHECK(config.model.preset == ModelPreset::Resnet32);
  CHECK(config.model.generator_width == 256);
  CHECK(config.model.discriminator_width == 64);
}

TEST_CASE("training options that exclude or need each other are refused, and say so") {
  const std::pair<const char*, const char*> cases[] = {
      {"train:\n  loss: hinge\n  label_smoothing: 0.1\n",
       "FILE:3: train.label_smoothing must be 0 for train.loss hinge, which has no targets, found "
       "0.1"},
      {"optimizer:\n  schedule: cosine\n",
       "FILE:2: optimizer.schedule cosine needs to know the step at which the learning rates have "
       "fallen: set optimizer.decay_steps (or train.steps) above warmup_steps, found 0 and 0"},
      {"train: {steps: 10}\noptimizer: {schedule: linear, warmup_steps: 10}\n",
       "FILE:2: optimizer.schedule linear needs to know the step at which the learning rates have "
       "fallen: set optimizer.decay_steps (or train.steps) above warmup_steps, found 10 and 10"},
      {"output:\n  rows: 3\n  best_by: recall\n",
       "FILE:3: output.best_by recall needs figures to choose by: set output.evaluate_every "
       "(minutes of training between them) above 0, found 0"},
  };
  for (const auto& [yaml, message] : cases) CHECK(ConfigFile(yaml).refusal() == message);
  for (const char* good :
       {"train: {steps: 10}\noptimizer: {schedule: linear, warmup_steps: 9}",
        "optimizer: {schedule: cosine, decay_steps: 4, decay_to: 0.1}",
        "train: {label_smoothing: 0.1}", "output: {best_by: recall, evaluate_every: 30s}"}) {
    CHECK(ConfigFile(good).refusal().empty());
  }
}

}  // namespace acgan::test
