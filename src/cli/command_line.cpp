#include "cli/command_line.h"

#include <limits>

#include "base/error.h"
#include "cli/bench_options.h"
#include "cli/evaluate_options.h"
#include "cli/option_parser.h"
#include "cli/weights_option.h"
#include "config/config_keys.h"

namespace acgan {

namespace {

const char* const kTopHelp =
    R"(Trains AC-GANs in mixed precision.

Usage: acgan-train [train] -c CONFIG.yaml [options]
       acgan-train bench -c CONFIG.yaml [options]
       acgan-train sample --checkpoint PATH [options]
       acgan-train evaluate --checkpoint PATH [options]
       acgan-train devices

Commands:
  train     train from a config (the default when the first argument is an option)
  bench     what mixed precision gains here: step times over batch sizes, and cost
  sample    images from a trained generator
  evaluate  how good a generator's images are, against held-out real ones
  devices   what can run here and, where not, why

Options:
  -h, --help  this text; every command has its own: acgan-train train --help
  --version   name and version

Exit codes: 0 done, 2 usage or config, 3 data, 4 training diverged, 5 output or checkpoint,
6 device, 130/143 interrupted by SIGINT/SIGTERM (the run is saved)
)";

constexpr ConfigOption kConfigOptions[] = {
    {"--precision", "MODE", "precision.mode"},
    {"--half", "TYPE", "precision.half"},
    {"--device", "NAME", "train.device", ValueForm::Text},
    {"--data", "PATH", "data.path", ValueForm::Text},
    {"--batch", "N", "train.batch"},
    {"--steps", "N", "train.steps"},
    {"--minutes", "M", "train.minutes"},
    {"--sample-at", "M1,M2,...", "output.sample_at", ValueForm::List},
    {"--sample-every", "M", "output.sample_every"},
    {"--save-every", "M", "output.save_every"},
    {"--evaluate-every", "M", "output.evaluate_every"},
    {"--keep", "N", "output.keep"},
    {"--outdir", "DIR", "output.dir", ValueForm::Text},
    {"--seed", "N", "train.seed"},
    {"--threads", "N", "train.threads"},
    {"--objective", "NAME", "train.objective"},
    {"--conv", "NAME", "train.conv"},
    {"--allow-tf32", "", "train.allow_tf32", ValueForm::Flag},
};

Command parse_train(const Arguments& arguments) {
  OptionParser parser("train", "Trains from a config.");
  TrainCommand command;
  bool quiet = false, verbose = false;
  parser.value("-c,--config", "FILE", "YAML config; required, unless --resume names a run",
               command.config_path);
  const ConfigOptions options(parser, kConfigOptions);
  parser.value("--resume", "latest|PATH",
               "go on from the newest complete checkpoint of this outdir and config, or from this "
               "checkpoint file or run directory",
               command.resume);
  parser.flag("-n,--dry-run",
              "check everything, run one step, one grid and one save in memory, print the plan, "
              "write nothing",
              command.dry_run);
  parser.flag("--profile", "print time by operation at the end", command.profile);
  parser.flag("-q,--quiet", "warnings and errors only", quiet);
  parser.flag("-v,--verbose", "say more", verbose);

  if (auto help = parser.parse(arguments)) return *help;
  if (!command.config_path && (!command.resume || *command.resume == "latest")) {
    parser.reject("expected a config (-c FILE.yaml), found none");
  }
  if (quiet && verbose) parser.reject("--quiet and --verbose exclude each other");
  command.overrides = options.overrides();
  if (quiet || verbose) command.verbosity = quiet ? Verbosity::Quiet : Verbosity::Verbose;
  return command;
}

// Empty: all.
Arguments chosen_classes(const std::optional<std::string>& list, const Arguments& singles,
                         const OptionParser& parser) {
  const bool wants_all = list && *list == "all";
  if (wants_all && !singles.empty()) parser.reject("--class and --classes all exclude each other");
  Arguments chosen = list && !wants_all ? split_at_commas(*list) : Arguments{};
  chosen.insert(chosen.end(), singles.begin(), singles.end());
  return chosen;
}

constexpr std::int64_t kMostRows = 10000;
constexpr int kMostThreads = 4096;

Command parse_sample(const Arguments& arguments) {
  OptionParser parser("sample", "Images from a trained generator.");
  SampleCommand command;
  std::optional<std::string> checkpoint, classes, seed, rows, weights, out, device, threads;
  Arguments single_classes;
  parser.value("--checkpoint", "PATH", "a checkpoint, or a run directory: its newest one; required",
               checkpoint);
  parser.value("--classes", "NAME,NAME,...|all", "one class a column; default all", classes);
  parser.values("--class", "NAME",
                "one more column, of a class whose name may have commas in it; repeatable, comes "
                "after --classes",
                single_classes);
  parser.value("--seed", "N", "decides the latents: an integer of at least 0; default 1", seed);
  parser.value("--rows", "N",
               fmt::format("images of each class: an integer from 1 to {}; default {}", kMostRows,
                           command.rows),
               rows);
  parser.value("--weights", kWeightsForm, kWeightsMeaning, weights);
  parser.value("--out", "FILE.png|FILE.npy|DIR",
               "a grid, raw images (uint8 [N,H,W,C], row by row), or a folder for either the grid "
               "or --singles; default samples.png, with --singles samples",
               out);
  parser.flag("--singles", "a PNG for each image", command.singles);
  const ConfigKey& device_key = config_key("train.device");
  parser.value("--device", "NAME", describe_key(device_key), device);
  parser.value("--threads", "N", describe_key(config_key("train.threads")), threads);

  if (auto help = parser.parse(arguments)) return *help;
  if (!checkpoint) parser.reject("expected --checkpoint PATH, found none");
  command.checkpoint = *checkpoint;
  command.classes = chosen_classes(classes, single_classes, parser);
  if (seed) {
    const auto most = std::numeric_limits<std::uint64_t>::max();
    command.seed = parser.checked_number<std::uint64_t>("--seed", *seed, 0, most);
  }
  if (weights) command.weights = checked_weights(parser, *weights);
  if (rows) command.rows = parser.checked_number<std::int64_t>("--rows", *rows, 1, kMostRows);
  if (threads) command.threads = parser.checked_number("--threads", *threads, 0, kMostThreads);
  command.out = out.value_or(command.singles ? "samples" : command.out);
  if (command.out.empty()) parser.reject("--out must name a file or a folder, found nothing");
  if (device) {
    Config scratch;
    ConfigValue value{.form = ConfigValue::Form::Quoted, .text = *device, .items = {}, .line = 0};
    if (device_key.set(scratch, value)) {
      parser.reject(fmt::format("--device must be {}, found '{}'", device_key.allowed, *device));
    }
    command.device = scratch.train.device;
  }
  return command;
}

Command parse_devices(const Arguments& arguments) {
  OptionParser parser("devices", "Lists what can run here and, where not, why.");
  if (auto help = parser.parse(arguments)) return *help;
  return DevicesCommand{};
}

}  // namespace

Command parse_command_line(const Arguments& arguments) {
  if (arguments.empty()) {
    fail(ErrorKind::Usage, "expected a command or -c CONFIG.yaml; see acgan-train --help");
  }
  const std::string& first = arguments.front();
  const Arguments rest(arguments.begin() + 1, arguments.end());
  if (first == "--help" || first == "-h") return PrintCommand{kTopHelp};
  if (first == "--version") return PrintCommand{"acgan-train " ACGAN_VERSION "\n"};
  if (first == "train") return parse_train(rest);
  if (first == "bench") return parse_bench(rest);
  if (first == "sample") return parse_sample(rest);
  if (first == "evaluate") return parse_evaluate(rest);
  if (first == "devices") return parse_devices(rest);
  if (first.starts_with("-")) return parse_train(arguments);
  fail(ErrorKind::Usage,
       "unknown command '{}', expected train, bench, sample, evaluate or devices; {}", first,
       "see acgan-train --help");
}

}  // namespace acgan
