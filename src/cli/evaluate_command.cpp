#include "cli/evaluate_command.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "cli/model_checkpoint.h"
#include "cli/weights_option.h"
#include "config/load_config.h"
#include "quality/outside_images.h"
#include "quality/quality_report.h"
#include "run/append_line.h"
#include "run/run_directory.h"
#include "train/evaluation.h"
#include "train/train_setup.h"

namespace acgan {

namespace {

namespace fs = std::filesystem;

// What the checkpoint was trained on, computed with as the command line says.
Config config_of(const Checkpoint& checkpoint, const EvaluateCommand& command) {
  std::vector<ConfigOverride> overrides{{"evaluate", "train.device", "auto"},
                                        {"evaluate", "train.threads", "0"}};
  overrides.insert(overrides.end(), command.overrides.begin(), command.overrides.end());
  return parse_config(checkpoint.text("config"), checkpoint.source(), overrides);
}

// metrics.jsonl of the run directory that the checkpoint lies in; none where it lies elsewhere.
std::optional<std::string> metrics_file_of(const std::string& checkpoint) {
  std::error_code ignored;
  const fs::path run = fs::absolute(checkpoint, ignored).parent_path().parent_path();
  if (!fs::is_regular_file(run / "config.yaml", ignored)) return std::nullopt;
  return RunDirectory::open(run.string()).metrics_file();
}

// A backend and a meter, and what they were made from.
struct Judge {
  Judge(const Config& config, RealData real, const EvaluateCommand& command)
      : opened(open_backend(backend_request(config))) {
    fmt::print("device: {}\n", opened.backend->description());
    if (!opened.why_not_cuda.empty()) {
      fmt::print("device: auto took the CPU: {}\n", opened.why_not_cuda);
    }
    fmt::print("data: {}; {} real images to learn from\n", real.train.description,
               real.train.count());
    QualityOptions options;
    options.samples = command.samples;
    options.seed = command.seed;
    options.feature_net = command.feature_net;
    if (options.feature_net) {
      options.feature_net->threads = static_cast<int>(config.train.threads);
    }
    meter = std::make_unique<QualityMeter>(*opened.backend, std::move(real), options);
    if (const std::string& problem = meter->net().origin.problem; !problem.empty()) {
      fmt::print(stderr, "acgan-train: warning: cache of feature nets: {}\n", problem);
    }
    const std::int64_t fewest = std::min(meter->floor().samples, meter->floor().references);
    if (command.feature_net && std::min(fewest, command.samples) <= meter->net().width) {
      fmt::print(stderr,
                 "acgan-train: warning: {} images are too few for {} features: the Frechet "
                 "distance of covariances that are not of full rank is too large, and the more so "
                 "the fewer; compare it at equal counts only\n",
                 std::min(fewest, command.samples), meter->net().width);
    }
  }

  OpenedBackend opened;
  std::unique_ptr<QualityMeter> meter;
};

void report(const QualityRecord& record, const QualityMeter& meter,
            const std::optional<std::string>& out) {
  fmt::print("{}", quality_table(record, meter));
  if (!out) {
    fmt::print("not written: this is no run directory; --out FILE keeps the figures\n");
    return;
  }
  append_line(*out, quality_json(record, meter));
  fmt::print("written: {}\n", *out);
}

void judge_checkpoint(const EvaluateCommand& command) {
  const Checkpoint checkpoint = load_model_checkpoint(command.checkpoint);
  const ModelFacts facts = read_model_facts(checkpoint);
  const Config config = config_of(checkpoint, command);
  RealData real = load_real_data(config.data, seed_of(checkpoint));
  check_fits(facts, real.train, checkpoint.source());
  const std::optional<std::string> out =
      command.out ? command.out : metrics_file_of(checkpoint.source());
  if (out) check_can_append(*out);
  const bool is_its_data = check_is_its_data(checkpoint, real.train, real.fingerprint);
  fmt::print("model: {}\n", checkpoint.source());
  Judge judge(config, std::move(real), command);
  Acgan model(*judge.opened.backend, facts.shape, DType::F32);
  const GeneratorWeights weights = load_generator(checkpoint, model, command.weights);
  fmt::print("weights: {}\n", weights_text(weights));
  Sampler sampler(model, kSampleChunk);
  const MakeFakes fakes = fakes_from(sampler, facts.shape.widths.latent_dim, command.seed);
  const Progress progress = progress_of(checkpoint);
  QualityRecord record{.source = checkpoint.source(),
                       .step = progress.step,
                       .elapsed_seconds = progress.elapsed_seconds,
                       .seed = command.seed,
                       .weights = name_of(weights),
                       .generator_saw_held_out = {},
                       .figures = judge.meter->measure(fakes)};
  if (is_its_data) record.generator_saw_held_out = judge.meter->real().generator_saw_held_out;
  fmt::print("step: {}, latents from seed {}\n", progress.step, command.seed);
  report(record, *judge.meter, out);
}

void judge_images(EvaluateCommand command) {
  const Config config = load_config(command.config_path, command.overrides);
  RealData real = load_real_data(config.data, config.train.seed.value_or(1));
  const OutsideImages images = load_outside_images(command.images, command.labels, real.train);
  if (command.out) check_can_append(*command.out);
  fmt::print("images: {}\n", command.images);
  const auto size =
      static_cast<std::size_t>(real.train.height * real.train.width * real.train.channels);
  command.samples = static_cast<std::int64_t>(images.pixels.size() / size);
  Judge judge(config, std::move(real), command);
  const QualityRecord record{.source = command.images,
                             .step = {},
                             .elapsed_seconds = {},
                             .seed = {},
                             .weights = {},
                             .generator_saw_held_out = {},
                             .figures = judge.meter->measure_images(images.pixels, images.labels)};
  report(record, *judge.meter, command.out);
}

}  // namespace

void run_evaluate_command(const EvaluateCommand& command) {
  if (command.images.empty()) {
    judge_checkpoint(command);
  } else {
    judge_images(command);
  }
}

}  // namespace acgan
