#include "train/train_setup.h"

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "base/format.h"
#include "config/config_keys.h"
#include "run/run_directory.h"
#include "train/train_state.h"

namespace acgan {
namespace {

// Steps are counted by the optimiser, which makes `updates` of them in a step of the training.
LearningRateSchedule rate_schedule(const Config& config, std::int64_t updates) {
  const OptimizerConfig& optimizer = config.optimizer;
  const std::int64_t end = optimizer.decay_steps > 0 ? optimizer.decay_steps : config.train.steps;
  return {.kind = optimizer.schedule == RateDecay::Linear   ? RateSchedule::Linear
                  : optimizer.schedule == RateDecay::Cosine ? RateSchedule::Cosine
                                                            : RateSchedule::Constant,
          .final_fraction = static_cast<float>(optimizer.decay_to),
          .warmup_steps = updates * optimizer.warmup_steps,
          .decay_steps = updates * end};
}

Augmentation augmentation(const TrainConfig& train) {
  const auto wants = [&](const char* name) { return std::ranges::count(train.augment, name) > 0; };
  return {.color = wants("color"), .translation = wants("translation"), .cutout = wants("cutout")};
}

AdamOptions adam_options(const Config& config, double learning_rate, std::int64_t updates) {
  const PrecisionConfig& precision = config.precision;
  AdamOptions options;
  options.constants = {.beta1 = static_cast<float>(config.optimizer.beta1),
                       .beta2 = static_cast<float>(config.optimizer.beta2),
                       .epsilon = static_cast<float>(config.optimizer.epsilon)};
  options.learning_rate = static_cast<float>(learning_rate);
  options.schedule = rate_schedule(config, updates);
  if (precision.mode == PrecisionMode::Fp32) return options;  // scale 1, fixed
  options.init_scale = static_cast<float>(precision.loss_scale.value_or(precision.init_scale));
  options.policy = {.dynamic = !precision.loss_scale.has_value(),
                    .growth_factor = static_cast<float>(precision.growth_factor),
                    .backoff_factor = static_cast<float>(precision.backoff_factor),
                    .growth_interval = static_cast<std::int32_t>(precision.growth_interval),
                    .min_scale = static_cast<float>(precision.min_scale),
                    .max_scale = static_cast<float>(precision.max_scale)};
  return options;
}

ResumePoint newest_of(const std::string& run_directory) {
  const std::vector<std::string> checkpoints = RunDirectory::open(run_directory).checkpoints();
  if (checkpoints.empty()) {
    fail(ErrorKind::Output, "{} holds no checkpoint to resume from", run_directory);
  }
  return {run_directory, Checkpoint::load(checkpoints.front())};
}

ResumePoint latest_of(const Config& config, Log& log) {
  const auto directory = RunDirectory::find_latest(config.output.dir, config);
  if (!directory) {
    fail(ErrorKind::Output,
         "--resume latest: {} holds no run of config \"{}\" with this precision and batch that "
         "has a checkpoint; give the run directory instead, or leave --resume out",
         config.output.dir, config.name);
  }
  for (const std::string& file : directory->checkpoints()) {
    try {
      return {directory->path(), Checkpoint::load(file)};
    } catch (const Error& error) {
      log.warn("{}; taking the checkpoint before it", error.what());
    }
  }
  fail(ErrorKind::Output, "--resume latest: no checkpoint in {} can be read", directory->path());
}

ConvLibrary conv_library(const Config& config) {
  switch (config.train.conv) {
    case ConvKernels::Handwritten:
      return ConvLibrary::Handwritten;
    case ConvKernels::Cudnn:
      return ConvLibrary::Cudnn;
    case ConvKernels::Auto:
      break;
  }
  // Mixed computes no convolution in fp32: cuDNN need not be loaded.
  return config.precision.mode == PrecisionMode::Mixed ? ConvLibrary::Handwritten
                                                       : ConvLibrary::Auto;
}

}  // namespace

BackendRequest backend_request(const Config& config) {
  return {.device = config.train.device,
          .threads = static_cast<int>(config.train.threads),
          .conv = conv_library(config),
          .allow_tf32 = config.train.allow_tf32};
}

void check_gpu_settings(const Config& config, const OpenedBackend& opened, Log& log) {
  std::vector<std::string> settings;
  for (const char* key : {"train.conv", "train.allow_tf32"}) {
    const std::string value = config_key(key).get(config);
    if (value != config_key(key).get(Config{})) settings.push_back(key + (": " + value));
  }
  if (settings.empty() || opened.backend->name() == "cuda") return;
  const std::string list = fmt::format("{}", fmt::join(settings, " and "));
  if (opened.why_not_cuda.empty()) {
    fail(ErrorKind::Usage,
         "only a GPU knows {}, and device '{}' is none: leave that out, or use --device cuda", list,
         config.train.device);
  }
  log.warn("only a GPU knows {}: no effect, since device auto took the CPU", list);
}

std::vector<std::string> convolution_notes(const Acgan& model, const Backend& backend) {
  std::vector<std::pair<std::string, std::vector<std::string>>> layers_by_note;
  for (const Network* network : model.networks()) {
    for (const auto& layer : network->layers()) {
      if (layer->convolution() == nullptr) continue;
      const std::string note = backend.convolution_note(*layer->convolution(), network->compute());
      if (note.empty()) continue;
      auto found = std::find_if(layers_by_note.begin(), layers_by_note.end(),
                                [&](const auto& entry) { return entry.first == note; });
      if (found == layers_by_note.end()) found = layers_by_note.insert(found, {note, {}});
      found->second.push_back(layer->name());
    }
  }
  std::vector<std::string> lines;
  for (const auto& [note, layers] : layers_by_note) {
    lines.push_back(fmt::format("{}: {}", fmt::join(layers, ", "), note));
  }
  return lines;
}

DType half_type(const PrecisionConfig& precision, const Backend& backend) {
  switch (precision.half) {
    case HalfType::Fp16:
      return DType::F16;
    case HalfType::Bf16:
      return DType::BF16;
    case HalfType::Auto:
      break;
  }
  // On a GPU fp16 is what the study has; on a CPU only bf16 can have instructions.
  if (backend.computes_in(DType::F16)) return DType::F16;
  return backend.computes_in(DType::BF16) ? DType::BF16 : DType::F16;
}

DType compute_type(const PrecisionConfig& precision, const Backend& backend) {
  return precision.mode == PrecisionMode::Fp32 ? DType::F32 : half_type(precision, backend);
}

TrainStepOptions step_options(const Config& config, const Dataset& dataset, DType compute,
                              std::uint64_t seed) {
  const LearningRates& rates = config.optimizer.learning_rate;
  return {.shape = {.image_size = dataset.height,
                    .channels = dataset.channels,
                    .classes = static_cast<std::int64_t>(dataset.class_names.size()),
                    .widths = config.model},
          .compute = compute,
          .objective = config.train.objective,
          .batch = config.train.batch,
          .d = adam_options(config, rates.d, config.train.d_steps),
          .g = adam_options(config, rates.g, 1),
          .q = adam_options(config, rates.q, 1),
          .seed = seed,
          .ema = {.decay = static_cast<float>(config.train.ema),
                  .ramp_up = static_cast<float>(config.train.ema_rampup)},
          .loss = config.train.loss,
          .label_smoothing = static_cast<float>(config.train.label_smoothing),
          .label_sampling = config.train.label_sampling,
          .d_steps = config.train.d_steps,
          .classify_fakes_in_d = config.train.classify_fakes_in_d,
          .flip = config.data.flip,
          .augment = augmentation(config.train)};
}

std::string rate_end_note(const Config& config, std::int64_t step) {
  const OptimizerConfig& optimizer = config.optimizer;
  if (optimizer.schedule == RateDecay::Constant || optimizer.decay_to > 0) return {};
  const std::int64_t steps = config.train.steps;
  const std::int64_t end = optimizer.decay_steps > 0 ? optimizer.decay_steps : steps;
  if (step < end && (steps == 0 || steps <= end)) return {};
  return fmt::format(
      "the learning rates are 0 from step {} on (optimizer.schedule {}), after which nothing is "
      "learnt: raise optimizer.decay_steps or decay_to",
      end, config_key("optimizer.schedule").get(config));
}

DataFacts facts_of(const Dataset& dataset, const Config& config) {
  return {.class_names = dataset.class_names,
          .counts = dataset.counts_by_class(),
          .kind = config_key("data.kind").get(config),
          .fingerprint = fingerprint_of(dataset)};
}

std::string precision_text(const PrecisionConfig& precision, DType compute,
                           const Backend& backend) {
  if (precision.mode == PrecisionMode::Fp32) return "fp32";
  std::string text = fmt::format(
      "mixed: {} activations and working weights, fp32 master weights, "
      "statistics, losses and Adam; loss scale {}",
      name_of(compute),
      precision.loss_scale ? fmt::format("{} (fixed)", *precision.loss_scale)
                           : fmt::format("{} (dynamic)", precision.init_scale));
  if (!backend.computes_in(compute)) {
    text +=
        fmt::format("; {} is storage only on this device, so it is no faster than fp32, or slower",
                    name_of(compute));
    if (backend.name() == "cuda") {
      text += "; it does halve memory and its traffic";
    } else if (backend.computes_in(DType::BF16)) {
      text += "; --half bf16 computes in 16 bits here";
    } else {
      text += "; a processor with bf16 instructions (AVX512-BF16, AMX) gains with --half bf16";
    }
  }
  return text;
}

Picture reals_grid(const Dataset& dataset, std::int64_t rows) {
  const auto classes = static_cast<std::int64_t>(dataset.class_names.size());
  const auto size = static_cast<std::size_t>(dataset.height * dataset.width * dataset.channels);
  std::vector<std::uint8_t> tiles(static_cast<std::size_t>(rows * classes) * size);
  std::vector<std::int64_t> filled(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < dataset.labels.size(); ++i) {
    const std::int32_t label = dataset.labels[i];
    std::int64_t& row = filled[static_cast<std::size_t>(label)];
    if (row == rows) continue;
    const auto tile = static_cast<std::size_t>(row * classes + label);
    std::copy_n(&dataset.images[i * size], size, &tiles[tile * size]);
    ++row;
  }
  return make_grid(tiles, rows, classes, dataset.height, dataset.width, dataset.channels);
}

ResumePoint find_resume_point(const std::string& resume, const Config& config, Log& log) {
  if (resume == "latest") return latest_of(config, log);
  const std::filesystem::path path(resume);
  if (std::filesystem::is_directory(path)) return newest_of(resume);
  Checkpoint checkpoint = Checkpoint::load(resume);
  const auto folder = std::filesystem::absolute(path).lexically_normal().parent_path();
  if (folder.filename() != "checkpoints") {
    fail(ErrorKind::Output,
         "--resume {}: a run goes on in its own directory, where the checkpoint lies in the folder "
         "checkpoints; give RUN or RUN/checkpoints/step_N.safetensors (sample, evaluate and export "
         "take it from anywhere)",
         resume);
  }
  return {folder.parent_path().string(), std::move(checkpoint)};
}

std::uint64_t choose_seed(const Config& config, const std::optional<ResumePoint>& resume,
                          Log& log) {
  if (!resume) return config.train.seed ? *config.train.seed : std::random_device{}();
  const std::uint64_t seed = seed_of(resume->checkpoint);
  if (config.train.seed && *config.train.seed != seed) {
    log.warn("seed {} is ignored: the run that goes on was started with seed {}",
             *config.train.seed, seed);
  }
  return seed;
}

}  // namespace acgan
