#include "cli/evaluate_options.h"

#include <limits>

#include "cli/option_parser.h"
#include "cli/weights_option.h"
#include "quality/outside_images.h"
#include "quality/quality_meter.h"

namespace acgan {

namespace {

constexpr ConfigOption kConfigOptions[] = {
    {"--data", "PATH", "data.path", ValueForm::Text},
    {"--device", "NAME", "train.device", ValueForm::Text},
    {"--threads", "N", "train.threads"},
};

const char* const kFigures = R"(
Figures, each beside what real images of the training part get:
  class accuracy    share of the images that a net trained on real images takes for their class
  frechet distance  between normal distributions fitted to the net's features (as FID; 0 is equal)
  kernel distance   of those features, unbiased (KID; around 0 is equal)
  precision         share of the images that look like real ones; recall: share of the real ones
                    that images come near to (Kynkaanniemi et al. 2019, 3 neighbours)
  diversity         distance between images of a class over that of real ones (0: all the same)
They can be compared between runs with the same data, number of images and feature net (its id).
The net is kept in $XDG_CACHE_HOME/acgan-train or ~/.cache/acgan-train.)";

}  // namespace

Command parse_evaluate(const Arguments& arguments) {
  OptionParser parser("evaluate", "How good images are, measured against held-out real ones.");
  EvaluateCommand command;
  std::optional<std::string> checkpoint, images, config_path, samples, seed, weights;
  parser.value(
      "--checkpoint", "PATH",
      "a checkpoint, or a run directory: its newest one; what the real data is stands in it",
      checkpoint);
  parser.value(
      "--images", "DIR|FILE.npy",
      "instead: images of another program, one folder a class, or uint8 [N,H,W,C]; needs -c",
      images);
  parser.value("--labels", "FILE.npy",
               "classes of a .npy of images, integers [N]; without it no figures by class",
               command.labels);
  parser.value("-c,--config", "FILE", "YAML config that names the real data, for --images",
               config_path);
  parser.value("--samples", "N",
               fmt::format("how many images the generator makes: an integer from {} to {}; default "
                           "{}",
                           QualityMeter::kFewestImages, kMostJudgedImages, command.samples),
               samples);
  parser.value("--seed", "N",
               "decides the latents and what is drawn: an integer of at least 0; default 1", seed);
  parser.value("--weights", kWeightsForm, kWeightsMeaning, weights);
  parser.value("--out", "FILE",
               "append the figures as a line of JSON here; default: metrics.jsonl of the run "
               "directory",
               command.out);
  const ConfigOptions options(parser, kConfigOptions);
  parser.footer(kFigures);

  if (auto help = parser.parse(arguments)) return *help;
  if (checkpoint.has_value() == images.has_value()) {
    parser.reject("expected one of --checkpoint PATH and --images PATH");
  }
  if (images && !config_path) parser.reject("--images needs a config that names the real data: -c");
  if (checkpoint && (config_path || command.labels)) {
    parser.reject("-c and --labels belong to --images; a checkpoint names its data itself");
  }
  if (images && weights) parser.reject("--weights belongs to --checkpoint");
  if (weights) command.weights = checked_weights(parser, *weights);
  command.checkpoint = checkpoint.value_or("");
  command.images = images.value_or("");
  command.config_path = config_path.value_or("");
  command.overrides = options.overrides();
  if (images && samples) parser.reject("--samples belongs to --checkpoint: all images are judged");
  if (command.out && command.out->empty()) parser.reject("--out must name a file, found nothing");
  for (const ConfigOverride& setting : command.overrides) {
    const bool is_used = setting.key.starts_with("data.") || setting.key == "train.device" ||
                         setting.key == "train.threads";
    if (checkpoint && !is_used) {
      parser.reject(
          fmt::format("--set {}: the checkpoint decides it; data.* may be set", setting.key));
    }
  }
  if (samples) {
    command.samples = parser.checked_number<std::int64_t>(
        "--samples", *samples, QualityMeter::kFewestImages, kMostJudgedImages);
  }
  if (seed) {
    const auto most = std::numeric_limits<std::uint64_t>::max();
    command.seed = parser.checked_number<std::uint64_t>("--seed", *seed, 0, most);
  }
  return command;
}

}  // namespace acgan
