#include "cli/sample_options.h"

#include <limits>

#include "cli/weights_option.h"
#include "config/config_keys.h"

namespace acgan {

namespace {

constexpr std::int64_t kMostRows = 10000;
constexpr std::int64_t kFewestSteps = 2, kMostSteps = 1000;
constexpr int kMostThreads = 4096;

// As they stand on the command line.
struct SampleOptions {
  std::optional<std::string> checkpoint, classes, seed, rows, weights, out, device, threads;
  std::optional<std::string> interpolate, steps, nearest, data, animate;
  Arguments single_classes;
  bool singles = false;
};

void add_picture_options(OptionParser& parser, SampleOptions& options) {
  parser.value(
      "--interpolate", "latents|classes",
      "rows that walk: latents: in one class from one row's latent of the plain grid to "
      "the next row's, on an arc that keeps their length; classes: with one latent through "
      "the chosen classes in their order",
      options.interpolate);
  parser.value(
      "--steps", "N",
      fmt::format("images of a walk from one end to the next, both included: an integer from {} "
                  "to {}; default {}",
                  kFewestSteps, kMostSteps, SampleCommand{}.steps),
      options.steps);
  parser.value("--nearest", "pixels",
               "each image beside the training image whose pixels differ least from it, and how "
               "much they differ: to see whether images are memorised",
               options.nearest);
  parser.value("--data", "PATH", "of --nearest: where the data lies; default as trained",
               options.data);
  parser.value("--animate", "RUN",
               "an animation (WebP) of the grids of this run directory, in place of images from a "
               "checkpoint; default of --out: samples/progress.webp in it",
               options.animate);
}

void add_options(OptionParser& parser, SampleOptions& options) {
  const SampleCommand defaults;
  parser.value("--checkpoint", "PATH", "a checkpoint, or a run directory: its newest one; required",
               options.checkpoint);
  parser.value("--classes", "NAME,NAME,...|all", "one class a column; default all",
               options.classes);
  parser.values("--class", "NAME",
                "one more column, of a class whose name may have commas in it; repeatable, comes "
                "after --classes",
                options.single_classes);
  parser.value("--seed", "N", "decides the latents: an integer of at least 0; default 1",
               options.seed);
  parser.value("--rows", "N",
               fmt::format("images of each class: an integer from 1 to {}; default {}, with "
                           "--interpolate latents 1",
                           kMostRows, defaults.rows),
               options.rows);
  parser.value("--weights", kWeightsForm, kWeightsMeaning, options.weights);
  parser.value("--out", "FILE.png|FILE.npy|DIR",
               "a grid, raw images (uint8 [N,H,W,C], row by row), or a folder for either the grid "
               "or --singles; default samples.png, with --singles samples",
               options.out);
  parser.flag("--singles", "a PNG for each image", options.singles);
  add_picture_options(parser, options);
  parser.value("--device", "NAME", describe_key(config_key("train.device")), options.device);
  parser.value("--threads", "N", describe_key(config_key("train.threads")), options.threads);
}

// Empty: all.
Arguments chosen_classes(const SampleOptions& options, const OptionParser& parser) {
  const bool wants_all = options.classes && *options.classes == "all";
  if (wants_all && !options.single_classes.empty()) {
    parser.reject("--class and --classes all exclude each other");
  }
  Arguments chosen =
      options.classes && !wants_all ? split_at_commas(*options.classes) : Arguments{};
  chosen.insert(chosen.end(), options.single_classes.begin(), options.single_classes.end());
  return chosen;
}

SamplePicture chosen_picture(const SampleOptions& options, const OptionParser& parser) {
  std::vector<std::string> chosen;
  if (options.interpolate) chosen.emplace_back("--interpolate");
  if (options.nearest) chosen.emplace_back("--nearest");
  if (options.animate) chosen.emplace_back("--animate");
  if (options.singles) chosen.emplace_back("--singles");
  if (chosen.size() > 1) parser.reject(chosen[0] + " and " + chosen[1] + " exclude each other");
  if (options.steps && !options.interpolate) parser.reject("--steps is for --interpolate only");
  if (options.data && !options.nearest) parser.reject("--data is for --nearest only");
  if (options.animate && options.checkpoint) {
    parser.reject("--animate and --checkpoint exclude each other");
  }
  if (options.animate && options.weights) parser.reject("--weights belongs to --checkpoint");
  if (options.nearest && *options.nearest != "pixels") {
    parser.reject("--nearest must be pixels, found '" + *options.nearest + "'");
  }
  if (options.nearest) return SamplePicture::Nearest;
  if (options.animate) return SamplePicture::Animation;
  if (!options.interpolate) return SamplePicture::Classes;
  if (*options.interpolate == "latents") return SamplePicture::LatentWalk;
  if (*options.interpolate == "classes") return SamplePicture::ClassWalk;
  parser.reject("--interpolate must be latents or classes, found '" + *options.interpolate + "'");
}

std::string chosen_device(const std::string& name, const OptionParser& parser) {
  const ConfigKey& key = config_key("train.device");
  Config scratch;
  const ConfigValue value{.form = ConfigValue::Form::Quoted, .text = name, .items = {}, .line = 0};
  if (key.set(scratch, value)) {
    parser.reject(fmt::format("--device must be {}, found '{}'", key.allowed, name));
  }
  return scratch.train.device;
}

void read_numbers(const SampleOptions& options, const OptionParser& parser,
                  SampleCommand& command) {
  if (options.seed) {
    const auto most = std::numeric_limits<std::uint64_t>::max();
    command.seed = parser.checked_number<std::uint64_t>("--seed", *options.seed, 0, most);
  }
  if (command.picture == SamplePicture::LatentWalk) command.rows = 1;
  if (options.rows) {
    command.rows = parser.checked_number<std::int64_t>("--rows", *options.rows, 1, kMostRows);
  }
  if (options.steps) {
    command.steps = parser.checked_number("--steps", *options.steps, kFewestSteps, kMostSteps);
  }
  if (options.threads) {
    command.threads = parser.checked_number("--threads", *options.threads, 0, kMostThreads);
  }
}

std::string default_out(const SampleCommand& command) {
  if (command.picture == SamplePicture::Animation) return command.run + "/samples/progress.webp";
  return command.singles ? "samples" : command.out;
}

}  // namespace

Command parse_sample(const Arguments& arguments) {
  OptionParser parser("sample", "Images from a trained generator.");
  SampleOptions options;
  add_options(parser, options);
  if (auto help = parser.parse(arguments)) return *help;

  SampleCommand command;
  command.picture = chosen_picture(options, parser);
  if (!options.checkpoint && !options.animate) {
    parser.reject("expected --checkpoint PATH, found none");
  }
  command.checkpoint = options.checkpoint.value_or("");
  command.run = options.animate.value_or("");
  command.classes = chosen_classes(options, parser);
  command.data = options.data;
  command.singles = options.singles;
  read_numbers(options, parser, command);
  command.out = options.out.value_or(default_out(command));
  if (command.out.empty()) parser.reject("--out must name a file or a folder, found nothing");
  if (options.weights) command.weights = checked_weights(parser, *options.weights);
  if (options.device) command.device = chosen_device(*options.device, parser);
  return command;
}

}  // namespace acgan
