#include "cli/command_line.h"

#include "base/error.h"
#include "cli/bench_options.h"
#include "cli/evaluate_options.h"
#include "cli/export_options.h"
#include "cli/option_parser.h"
#include "cli/sample_options.h"

namespace acgan {

namespace {

const char* const kTopHelp =
    R"(Trains AC-GANs in mixed precision.

Usage: acgan-train [train] -c CONFIG.yaml [options]
       acgan-train bench -c CONFIG.yaml [options]
       acgan-train sample --checkpoint PATH [options]
       acgan-train evaluate --checkpoint PATH [options]
       acgan-train export --checkpoint PATH --onnx FILE
       acgan-train report RUN
       acgan-train devices

Commands:
  train     train from a config (the default when the first argument is an option)
  bench     what mixed precision gains here: step times over batch sizes, and cost
  sample    images from a trained generator
  evaluate  how good a generator's images are, against held-out real ones
  export    a trained generator as an ONNX file
  report    a page with the curves and images of a run directory
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

Command parse_report(const Arguments& arguments) {
  OptionParser parser("report", "A page (HTML) with the curves and images of a run.");
  ReportCommand command;
  std::optional<std::string> run;
  parser.value("RUN", "", "a run directory; required", run);
  parser.value("--out", "FILE.html", "default report.html in the run directory", command.out);
  if (auto help = parser.parse(arguments)) return *help;
  if (!run || run->empty()) parser.reject("expected a run directory, found none");
  if (command.out && command.out->empty()) parser.reject("--out must name a file, found nothing");
  command.run = *run;
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
  if (first == "export") return parse_export(rest);
  if (first == "report") return parse_report(rest);
  if (first == "devices") return parse_devices(rest);
  if (first.starts_with("-")) return parse_train(arguments);
  fail(ErrorKind::Usage,
       "unknown command '{}', expected train, bench, sample, evaluate, export, report or devices; "
       "{}",
       first, "see acgan-train --help");
}

}  // namespace acgan
