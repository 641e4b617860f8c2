#include "config/config_keys.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "config/key_makers.h"

namespace acgan {

namespace {

namespace make = key_makers;

// ---- keys that are unlike all others

ConfigKey loss_scale(const make::Name& name) {
  auto set = [](Config& config, const ConfigValue& value) -> std::optional<Refusal> {
    const auto number = make::number_in(make::kScale, value);
    if (!number && !(value.is_text() && value.text == "dynamic")) return refusal(value);
    config.precision.loss_scale = number;
    return std::nullopt;
  };
  auto get = [](const Config& config) {
    const auto& scale = config.precision.loss_scale;
    return scale ? fmt::format("{}", *scale) : "dynamic";
  };
  return {name.path, name.meaning, "dynamic, or " + make::kScale.text(), set, get};
}

// A number that stands for the three keys below it; dump writes those.
ConfigKey learning_rates(const make::Name& name) {
  auto set = [](Config& config, const ConfigValue& value) -> std::optional<Refusal> {
    const auto rate = make::number_in(make::kPositive, value);
    if (!rate) return refusal(value);
    config.optimizer.learning_rate = {.d = *rate, .g = *rate, .q = *rate};
    return std::nullopt;
  };
  const std::string allowed =
      make::kPositive.text() + ", or a map {d: .., g: .., q: ..} of such numbers";
  return {name.path, name.meaning, allowed, set, nullptr};
}

ConfigKey seed(const make::Name& name) {
  auto set = [](Config& config, const ConfigValue& value) -> std::optional<Refusal> {
    const auto number = number_from<std::uint64_t>(value);
    if (!number && !(value.is_text() && value.text == "random")) return refusal(value);
    config.train.seed = number;
    return std::nullopt;
  };
  auto get = [](const Config& config) {
    return config.train.seed ? fmt::format("{}", *config.train.seed) : "random";
  };
  return {name.path, name.meaning, "an integer from 0 to 18446744073709551615, or random", set,
          get};
}

ConfigKey device(const make::Name& name) {
  auto read = [](const ConfigValue& value) -> std::optional<std::string> {
    static const std::set<std::string> kNames{"auto", "cpu", "cuda", "onednn", "packed", "host"};
    if (!value.is_text()) return std::nullopt;
    if (kNames.contains(value.text)) return value.text;
    const std::string prefix = "cuda:";
    if (!value.text.starts_with(prefix)) return std::nullopt;
    if (value.text.find_first_not_of("0123456789", prefix.size()) != std::string::npos) {
      return std::nullopt;
    }
    const auto index = number_from<unsigned short>(value.text.substr(prefix.size()));
    return index ? std::optional(fmt::format("{}{}", prefix, *index)) : std::nullopt;
  };
  return make::make_key(
      name, "auto, cpu, cuda, cuda:N, or one CPU backend: onednn, packed, host",
      [](auto& config) -> auto& { return config.train.device; }, read, yaml_quoted);
}

ConfigKey augment(const make::Name& name) {
  ConfigKey key = make::name_list(
      name, [](auto& config) -> auto& { return config.train.augment; });
  auto set = [set_names = key.set](Config& config, const ConfigValue& value) {
    for (const ConfigValue& item : value.items) {
      const bool known =
          item.text == "color" || item.text == "translation" || item.text == "cutout";
      if (!item.is_text() || !known) return std::optional(refusal(item));
    }
    return set_names(config, value);
  };
  return {name.path, name.meaning, "a list [..] of color, translation, cutout, each once", set,
          key.get};
}

// ---- the table, a section a function

using Keys = std::vector<ConfigKey>;

Keys data_keys() {
  return {
      make::choice<DataKind>({"data.kind", "format of the data set"},
                             [](auto& c) -> auto& { return c.data.kind; },
                             {{"quickdraw", DataKind::QuickDraw},
                              {"cifar10", DataKind::Cifar10},
                              {"cifar100", DataKind::Cifar100},
                              {"mnist", DataKind::Mnist},
                              {"fashion-mnist", DataKind::FashionMnist},
                              {"folder", DataKind::Folder},
                              {"doodles", DataKind::Doodles}}),
      make::text(
          {"data.path", "folder of the data set (CIFAR: or its archive); not used by doodles"},
          [](auto& c) -> auto& { return c.data.path; }, make::Empty::Allowed),
      make::name_list(
          {"data.classes", "which classes, in label order; []: all, sorted by name"},
          [](auto& c) -> auto& { return c.data.classes; }),
      make::integer({"data.limit_per_class", "at most so many images a class; 0: all"},
                    [](auto& c) -> auto& { return c.data.limit_per_class; }, {0, 1000000000}),
      make::integer({"data.image_size",
                     "side of the square images in pixels (CIFAR: 32; resnet32: a multiple of 8)"},
                    [](auto& c) -> auto& { return c.data.image_size; }, {8, 256, 4}),
      make::choice<std::int64_t>({"data.channels", "1: grey, 3: colour; 0: what the kind has"},
                                 [](auto& c) -> auto& { return c.data.channels; },
                                 {{"0", 0}, {"1", 1}, {"3", 3}}),
      make::choice<bool>({"data.only_recognized",
                          "quickdraw strokes: leave out drawings that the game did not recognize"},
                         [](auto& c) -> auto& { return c.data.only_recognized; },
                         {{"false", false}, {"true", true}}),
      make::choice<Cifar100Labels>(
          {"data.labels", "of cifar100: 100 fine classes or 20 coarse ones"},
          [](auto& c) -> auto& { return c.data.labels; },
          {{"fine", Cifar100Labels::Fine}, {"coarse", Cifar100Labels::Coarse}}),
      make::choice<bool>(
          {"data.skip_unreadable", "of folder: leave out images that cannot be read"},
          [](auto& c) -> auto& { return c.data.skip_unreadable; },
          {{"false", false}, {"true", true}}),
      make::choice<bool>(
          {"data.cache",
           "of folder: keep decoded images in ~/.cache/acgan-train for the next start"},
          [](auto& c) -> auto& { return c.data.cache; }, {{"false", false}, {"true", true}}),
      make::integer({"data.doodles_per_class", "drawings of each class in the built-in set"},
                    [](auto& c) -> auto& { return c.data.doodles_per_class; }, {1, 1000000}),
      make::number({"data.held_out",
                    "share of each class kept from training for evaluate (quickdraw, folder)"},
                   [](auto& c) -> auto& { return c.data.held_out; }, {.low = 0, .high = 0.5}),
      make::choice<bool>(
          {"data.flip", "mirror half of the real images left to right, drawn anew each time"},
          [](auto& c) -> auto& { return c.data.flip; }, {{"false", false}, {"true", true}}),
  };
}

ConfigKey only_of(ModelPreset preset, ConfigKey key) {
  key.preset = preset;
  return key;
}

Keys model_keys() {
  const make::Whole width{1, 65536};
  return {
      make::choice<ModelPreset>(
          {"model.preset", "study: its convolutions; resnet32: residual blocks"},
          [](auto& c) -> auto& { return c.model.preset; },
          {{"study", ModelPreset::Study}, {"resnet32", ModelPreset::Resnet32}}),
      make::integer(
          {"model.latent_dim", "length of z"}, [](auto& c) -> auto& { return c.model.latent_dim; },
          width),
      only_of(ModelPreset::Study,
              make::integer(
                  {"model.dense_width", "width of generator.dense1 and discriminator.dense3"},
                  [](auto& c) -> auto& { return c.model.dense_width; }, width)),
      only_of(ModelPreset::Study, make::integer(
                                      {"model.conv1_width", "channels at half the image size"},
                                      [](auto& c) -> auto& { return c.model.conv1_width; }, width)),
      only_of(ModelPreset::Study,
              make::integer(
                  {"model.conv2_width", "channels at a quarter of the image size"},
                  [](auto& c) -> auto& { return c.model.conv2_width; }, width)),
      only_of(ModelPreset::Resnet32,
              make::integer(
                  {"model.generator_width", "channels of the generator's blocks"},
                  [](auto& c) -> auto& { return c.model.generator_width; }, width)),
      only_of(ModelPreset::Resnet32,
              make::integer(
                  {"model.discriminator_width", "channels of the discriminator's blocks"},
                  [](auto& c) -> auto& { return c.model.discriminator_width; }, width)),
      make::integer(
          {"model.classifier_width", "width of classifier.dense1"},
          [](auto& c) -> auto& { return c.model.classifier_width; }, width),
      make::choice<bool>(
          {"model.spectral_norm", "divide the discriminator's weights by their spectral norm"},
          [](auto& c) -> auto& { return c.model.spectral_norm; },
          {{"false", false}, {"true", true}}),
  };
}

Keys precision_keys() {
  return {
      make::choice<PrecisionMode>({"precision.mode", "arithmetic of convolutions and dense layers"},
                                  [](auto& c) -> auto& { return c.precision.mode; },
                                  {{"fp32", PrecisionMode::Fp32}, {"mixed", PrecisionMode::Mixed}}),
      make::choice<HalfType>(
          {"precision.half", "16-bit type of mixed"},
          [](auto& c) -> auto& { return c.precision.half; },
          {{"auto", HalfType::Auto}, {"fp16", HalfType::Fp16}, {"bf16", HalfType::Bf16}}),
      loss_scale({"precision.loss_scale", "fixed, or moved by the rules below"}),
      make::number(
          {"precision.init_scale", "first loss scale"},
          [](auto& c) -> auto& { return c.precision.init_scale; }, make::kScale),
      make::number(
          {"precision.growth_factor", "the scale grows by this after growth_interval steps"},
          [](auto& c) -> auto& { return c.precision.growth_factor; },
          {.low = 1, .low_bound = make::Bound::Open}),
      make::number(
          {"precision.backoff_factor", "the scale shrinks by this after an overflow"},
          [](auto& c) -> auto& { return c.precision.backoff_factor; },
          {.low = 0, .high = 1, .low_bound = make::Bound::Open, .high_bound = make::Bound::Open}),
      make::integer({"precision.growth_interval", "steps without overflow before the scale grows"},
                    [](auto& c) -> auto& { return c.precision.growth_interval; }, {1, 1000000000}),
      make::number(
          {"precision.min_scale", "floor of the loss scale"},
          [](auto& c) -> auto& { return c.precision.min_scale; }, make::kScale),
      make::number(
          {"precision.max_scale", "ceiling of the loss scale"},
          [](auto& c) -> auto& { return c.precision.max_scale; }, make::kScale),
      make::integer({"precision.max_consecutive_skips",
                     "of one optimizer; more end the run with exit code 4"},
                    [](auto& c) -> auto& { return c.precision.max_consecutive_skips; },
                    {1, 1000000000}),
  };
}

Keys optimizer_keys() {
  return {
      learning_rates({"optimizer.learning_rate", "one for all three optimizers, or one for each"}),
      make::number(
          {"optimizer.learning_rate.d", "of the discriminator's loss"},
          [](auto& c) -> auto& { return c.optimizer.learning_rate.d; }, make::kPositive),
      make::number(
          {"optimizer.learning_rate.g", "of the generator's loss"},
          [](auto& c) -> auto& { return c.optimizer.learning_rate.g; }, make::kPositive),
      make::number(
          {"optimizer.learning_rate.q", "of the classifier's loss"},
          [](auto& c) -> auto& { return c.optimizer.learning_rate.q; }, make::kPositive),
      make::number(
          {"optimizer.beta1", "Adam's decay of the first moment"},
          [](auto& c) -> auto& { return c.optimizer.beta1; }, make::kBeta),
      make::number(
          {"optimizer.beta2", "Adam's decay of the second moment"},
          [](auto& c) -> auto& { return c.optimizer.beta2; }, make::kBeta),
      make::number({"optimizer.epsilon", "added to the root of the second moment"},
                   [](auto& c) -> auto& { return c.optimizer.epsilon; },
                   {.low = 0, .high = 1, .low_bound = make::Bound::Open}),
      make::choice<RateDecay>({"optimizer.schedule", "how the learning rates fall over the steps"},
                              [](auto& c) -> auto& { return c.optimizer.schedule; },
                              {{"constant", RateDecay::Constant},
                               {"linear", RateDecay::Linear},
                               {"cosine", RateDecay::Cosine}}),
      make::integer({"optimizer.warmup_steps", "steps over which the learning rates first rise"},
                    [](auto& c) -> auto& { return c.optimizer.warmup_steps; }, {0, 1000000000000}),
      make::integer(
          {"optimizer.decay_steps", "step at which the learning rates have fallen; 0: train.steps"},
          [](auto& c) -> auto& { return c.optimizer.decay_steps; }, {0, 1000000000000}),
      make::number({"optimizer.decay_to", "share of the learning rates that is left then"},
                   [](auto& c) -> auto& { return c.optimizer.decay_to; }, {.low = 0, .high = 1}),
  };
}

Keys train_keys() {
  return {
      make::integer({"train.batch", "images per step"},
                    [](auto& c) -> auto& { return c.train.batch; },
                    {2, 65536}),  // batch norm cannot train on one image
      make::integer({"train.steps", "stop after so many steps; 0: no limit"},
                    [](auto& c) -> auto& { return c.train.steps; }, {0, 1000000000000}),
      make::duration(
          {"train.minutes", "stop after so much training time; 0: no limit"},
          [](auto& c) -> auto& { return c.train.minutes; }),
      seed({"train.seed", "decides weights, order, noise and labels"}),
      device({"train.device", "where to compute"}),
      make::integer({"train.threads", "CPU threads; 0: all that the process may use"},
                    [](auto& c) -> auto& { return c.train.threads; }, {0, 4096}),
      make::choice<Objective>({"train.objective", "dgq: three optimizers; joint: two"},
                              [](auto& c) -> auto& { return c.train.objective; },
                              {{"dgq", Objective::Dgq}, {"joint", Objective::Joint}}),
      make::choice<ConvKernels>(
          {"train.conv",
           "convolutions on a GPU; auto: our kernels in 16 bits, cuDNN in fp32 where it is there"},
          [](auto& c) -> auto& { return c.train.conv; },
          {{"auto", ConvKernels::Auto},
           {"handwritten", ConvKernels::Handwritten},
           {"cudnn", ConvKernels::Cudnn}}),
      make::choice<bool>({"train.allow_tf32",
                          "fp32 on a GPU may round factors to TF32, which tensor cores multiply"},
                         [](auto& c) -> auto& { return c.train.allow_tf32; },
                         {{"false", false}, {"true", true}}),
  };
}

// What keeps training from collapsing, off unless asked for.
Keys stability_keys() {
  return {
      make::number(
          {"train.ema", "decay a step of the generator's moving average, which draws; 0: none"},
          [](auto& c) -> auto& { return c.train.ema; },
          {.low = 0, .high = 1, .high_bound = make::Bound::Open}),
      make::integer({"train.ema_rampup", "its t-th update decays by t / (t + this) at most"},
                    [](auto& c) -> auto& { return c.train.ema_rampup; }, {0, 1000000000}),
      make::choice<SourceLoss>({"train.loss", "of real against fake: cross entropy or hinge"},
                               [](auto& c) -> auto& { return c.train.loss; },
                               {{"bce", SourceLoss::Bce}, {"hinge", SourceLoss::Hinge}}),
      make::number(
          {"train.label_smoothing", "D's target for real images is 1 minus this (loss bce)"},
          [](auto& c) -> auto& { return c.train.label_smoothing; },
          {.low = 0, .high = 0.5, .high_bound = make::Bound::Open}),
      make::choice<LabelSampling>({"train.label_sampling",
                                   "classes of fakes: as often as in the data (frequency is "
                                   "another name of that), or evenly"},
                                  [](auto& c) -> auto& { return c.train.label_sampling; },
                                  {{"data", LabelSampling::Data},
                                   {"frequency", LabelSampling::Data},
                                   {"even", LabelSampling::Even}}),
      make::integer({"train.d_steps", "updates of D a step, each with a batch of its own"},
                    [](auto& c) -> auto& { return c.train.d_steps; }, {1, 100}),
      make::choice<bool>({"train.classify_fakes_in_d",
                          "whether fakes teach discriminator and classifier the classes as well"},
                         [](auto& c) -> auto& { return c.train.classify_fakes_in_d; },
                         {{"false", false}, {"true", true}}),
      augment({"train.augment", "DiffAugment of what the discriminator sees"}),
  };
}

Keys output_keys() {
  return {
      make::text(
          {"output.dir", "where run directories are made"},
          [](auto& c) -> auto& { return c.output.dir; }, make::Empty::Refused),
      make::duration(
          {"output.sample_every", "training time between sample grids; 0: none"},
          [](auto& c) -> auto& { return c.output.sample_every; }),
      make::duration_list(
          {"output.sample_at", "further sample grids after these training times"},
          [](auto& c) -> auto& { return c.output.sample_at; }),
      make::duration(
          {"output.save_every", "training time between checkpoints; 0: only at the end"},
          [](auto& c) -> auto& { return c.output.save_every; }),
      make::integer({"output.keep", "checkpoints kept"},
                    [](auto& c) -> auto& { return c.output.keep; }, {1, 1000000}),
      make::integer({"output.rows", "rows of a sample grid"},
                    [](auto& c) -> auto& { return c.output.rows; }, {1, 100}),
      make::duration(
          {"output.evaluate_every", "training time between quality figures; 0: never"},
          [](auto& c) -> auto& { return c.output.evaluate_every; }),
      make::choice<BestBy>(
          {"output.best_by",
           "figure by which checkpoints/best.safetensors is kept; auto: frechet where figures are "
           "measured"},
          [](auto& c) -> auto& { return c.output.best_by; },
          {{"auto", BestBy::Auto},
           {"none", BestBy::None},
           {"class_accuracy", BestBy::ClassAccuracy},
           {"frechet", BestBy::Frechet},
           {"kid", BestBy::Kid},
           {"precision", BestBy::Precision},
           {"recall", BestBy::Recall}}),
      make::choice<OnWriteError>(
          {"output.on_write_error",
           "when the disk is full during training: end, or warn and go on"},
          [](auto& c) -> auto& { return c.output.on_write_error; },
          {{"stop", OnWriteError::Stop}, {"continue", OnWriteError::Continue}}),
      make::choice<bool>({"output.report", "report.html at the end, where gnuplot is installed"},
                         [](auto& c) -> auto& { return c.output.report; },
                         {{"false", false}, {"true", true}}),
      make::choice<bool>(
          {"output.animation", "samples/progress.webp at the end: the grids one after the other"},
          [](auto& c) -> auto& { return c.output.animation; }, {{"false", false}, {"true", true}}),
      make::choice<bool>(
          {"output.tensorboard", "losses, loss scales, speed and grids for TensorBoard as well"},
          [](auto& c) -> auto& { return c.output.tensorboard; },
          {{"false", false}, {"true", true}}),
  };
}

}  // namespace

const std::vector<ConfigKey>& config_keys() {
  static const Keys keys = [] {
    Keys all;
    for (const Keys& section : {data_keys(), model_keys(), precision_keys(), optimizer_keys(),
                                train_keys(), stability_keys(), output_keys()}) {
      all.insert(all.end(), section.begin(), section.end());
    }
    return all;
  }();
  return keys;
}

const ConfigKey& config_key(std::string_view path) {
  const auto& keys = config_keys();
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return key.path == path; });
  ACGAN_CHECK(found != keys.end());
  return *found;
}

}  // namespace acgan
