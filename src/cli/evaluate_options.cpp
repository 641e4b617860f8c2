#include "cli/evaluate_options.h"

#include <algorithm>
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
The net is kept in $XDG_CACHE_HOME/acgan-train or ~/.cache/acgan-train.

--feature-net takes a net in one ONNX file, such as Inception: input float [N,3,H,W] or [N,H,W,3]
(images are resized to H and W, bilinear, pixel centres at half; grey is repeated), first output
[N,F]. All weights must be in this file. The net knows no classes, so there is no class accuracy;
its id is the file's SHA-256. ONNX Runtime computes, in python3 or the interpreter that
ACGAN_PYTHON names (numpy, onnxruntime).)";

OnnxNet checked_net(const OptionParser& parser, const std::string& file,
                    const std::optional<std::string>& scale) {
  if (file.empty()) parser.reject("--feature-net must name a file, found nothing");
  OnnxNet net{.file = file};
  if (!scale) return net;
  if (std::ranges::count(kFeatureScales, *scale) == 0) {
    parser.reject(fmt::format("--feature-scale must be one of {}, found '{}'",
                              fmt::join(kFeatureScales, ", "), *scale));
  }
  net.scale = *scale;
  return net;
}

}  // namespace

Command parse_evaluate(const Arguments& arguments) {
  OptionParser parser("evaluate", "How good images are, measured against held-out real ones.");
  EvaluateCommand command;
  std::optional<std::string> checkpoint, images, config_path, samples, seed, weights, feature_net,
      feature_scale;
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
  parser.value("--feature-net", "FILE.onnx",
               "a net whose features are compared, instead of the one that learns from the real "
               "images (below)",
               feature_net);
  parser.value("--feature-scale", "unit|symmetric|imagenet|bytes",
               "what that net takes pixels as: [0,1], [-1,1], [0,1] less ImageNet's mean over its "
               "spread, or [0,255]; default unit",
               feature_scale);
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
  if (feature_scale && !feature_net) parser.reject("--feature-scale belongs to --feature-net");
  if (feature_net) command.feature_net = checked_net(parser, *feature_net, feature_scale);
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
