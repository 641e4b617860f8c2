#include "cli/bench_options.h"

#include <algorithm>

#include "base/error.h"
#include "cli/option_parser.h"
#include "config/nearest_name.h"

namespace acgan {

namespace {

constexpr ConfigOption kConfigOptions[] = {
    {"--device", "NAME", "train.device", ValueForm::Text},
    {"--data", "PATH", "data.path", ValueForm::Text},
    {"--seed", "N", "train.seed"},
    {"--threads", "N", "train.threads"},
    {"--objective", "NAME", "train.objective"},
    {"--conv", "NAME", "train.conv"},
    {"--allow-tf32", "", "train.allow_tf32", ValueForm::Flag},
};

constexpr std::int64_t kMostWarmup = 100000;
constexpr double kMostSeconds = 1e6, kMostPercent = 100, kDearest = 1e6;

using OptionalText = std::optional<std::string>;

// Each value once, in the order given.
template <typename Value>
void add_once(std::vector<Value>& values, const Value& value) {
  if (std::ranges::find(values, value) == values.end()) values.push_back(value);
}

std::vector<std::int64_t> parse_batches(const OptionParser& parser, const std::string& list) {
  std::vector<std::int64_t> batches;
  for (const std::string& part : split_at_commas(list)) {
    add_once(batches, parser.checked_number<std::int64_t>("--batch", part, 2, 65536));
  }
  return batches;
}

// The entry of `names` that `text` is.
template <typename Value>
Value parse_choice(const OptionParser& parser, const std::string& option, const std::string& text,
                   const std::vector<std::pair<std::string, Value>>& names) {
  std::vector<std::string> allowed;
  for (const auto& [name, value] : names) {
    if (name == text) return value;
    allowed.push_back(name);
  }
  parser.reject(fmt::format("{} must be a list of {}, found '{}', did you mean '{}'?", option,
                            comma_list(allowed), text, nearest_name(text, allowed)));
}

// fp32 once, mixed once for each 16-bit type.
std::vector<PrecisionChoice> parse_choices(const OptionParser& parser,
                                           const OptionalText& precisions,
                                           const OptionalText& halves) {
  std::vector<HalfType> types;
  for (const std::string& half : split_at_commas(halves.value_or("auto"))) {
    add_once(types,
             parse_choice<HalfType>(
                 parser, "--half", half,
                 {{"auto", HalfType::Auto}, {"fp16", HalfType::Fp16}, {"bf16", HalfType::Bf16}}));
  }
  std::vector<PrecisionMode> modes;
  for (const std::string& mode : split_at_commas(precisions.value_or("fp32,mixed"))) {
    add_once(modes, parse_choice<PrecisionMode>(
                        parser, "--precision", mode,
                        {{"fp32", PrecisionMode::Fp32}, {"mixed", PrecisionMode::Mixed}}));
  }
  std::vector<PrecisionChoice> choices;
  for (const PrecisionMode mode : modes) {
    if (mode == PrecisionMode::Fp32) {
      choices.push_back({.mode = mode});
      continue;
    }
    for (const HalfType half : types) choices.push_back({.mode = mode, .half = half});
  }
  return choices;
}

// As a shell takes it back.
std::string command_text(const Arguments& arguments) {
  std::string text = "acgan-train bench";
  for (const std::string& argument : arguments) {
    const bool is_plain = !argument.empty() && argument.find_first_not_of(
                                                   "abcdefghijklmnopqrstuvwxyz"
                                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                                   "._-/,=:+@%") == std::string::npos;
    if (is_plain) {
      text += " " + argument;
      continue;
    }
    text += " '";
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'";
  }
  return text;
}

// When a row has been measured for long enough.
struct LimitTexts {
  OptionalText warmup, min_seconds, max_seconds, spread;

  void declare(OptionParser& parser) {
    const SweepLimits preset;
    parser.value("--warmup", "N",
                 fmt::format("steps before the figures, at least {}; default {}",
                             kFewestWarmupSteps, preset.warmup),
                 warmup);
    parser.value("--min-seconds", "S",
                 fmt::format("measured for each row at least; default {:g}", preset.min_seconds),
                 min_seconds);
    parser.value("--max-seconds", "S",
                 fmt::format("measured for each row at most; default {:g}", preset.max_seconds),
                 max_seconds);
    parser.value("--spread", "PERCENT",
                 fmt::format("a row is done when half of its median's 95 % interval is below this "
                             "share of the median; default {:g}",
                             100 * preset.spread),
                 spread);
  }

  SweepLimits limits(const OptionParser& parser) const {
    SweepLimits result;
    if (warmup) {
      result.warmup =
          parser.checked_number<std::int64_t>("--warmup", *warmup, kFewestWarmupSteps, kMostWarmup);
    }
    if (min_seconds) {
      result.min_seconds = parser.checked_number("--min-seconds", *min_seconds, 0.0, kMostSeconds);
      result.max_seconds = std::max(result.max_seconds, result.min_seconds);
    }
    if (max_seconds) {
      result.max_seconds = parser.checked_number("--max-seconds", *max_seconds, 0.0, kMostSeconds);
      if (!min_seconds) result.min_seconds = std::min(result.min_seconds, result.max_seconds);
    }
    if (result.max_seconds < result.min_seconds || result.max_seconds <= 0) {
      parser.reject("--max-seconds must be above 0 and at least --min-seconds");
    }
    if (spread) {
      result.spread = 0.01 * parser.checked_number("--spread", *spread, 0.0, kMostPercent);
    }
    return result;
  }
};

// What a row's time costs.
struct PriceTexts {
  OptionalText per_hour, list, region, minutes;
  bool spot = false;

  void declare(OptionParser& parser) {
    parser.value("--price-per-hour", "USD", "of this machine; goes before any price list",
                 per_hour);
    parser.value("--prices", "FILE.yaml",
                 fmt::format("price list; default {}, where it is there", kDefaultPriceList), list);
    parser.value("--region", "NAME", "take the price list's entries of this region only", region);
    parser.flag("--spot", "take the price list's spot prices", spot);
    parser.value("--for-minutes", "M", "say what so much training gives and costs", minutes);
  }

  bool is_given() const { return per_hour || list || region || minutes || spot; }

  PriceRequest request(const OptionParser& parser) const {
    PriceRequest result{.per_hour = std::nullopt,
                        .list = list,
                        .region = region.value_or(""),
                        .kind = spot ? PriceKind::Spot : PriceKind::OnDemand,
                        .minutes = std::nullopt};
    if (per_hour) {
      result.per_hour = parser.checked_number("--price-per-hour", *per_hour, 0.0, kDearest);
    }
    if (minutes) result.minutes = parse_minutes(*minutes, "--for-minutes");
    return result;
  }
};

// At which peaks --floors tells times.
struct PeakTexts {
  OptionalText names, tflops, gbs;

  void declare(OptionParser& parser) {
    std::vector<std::string> known;
    for (const Peak& peak : known_peaks()) known.push_back(peak.name);
    parser.value("--peak", "LIST",
                 fmt::format("with --floors: times at the peaks of these GPUs, of {}; default {}",
                             comma_list(known), kDefaultPeaks),
                 names);
    parser.value("--peak-tflops", "X[,Y]",
                 "with --floors: times at a peak of X TFLOP/s in 16 bits and Y in fp32; default of "
                 "Y: X; needs --peak-gbs",
                 tflops);
    parser.value("--peak-gbs", "Z", "with --floors: and of Z GB/s of memory", gbs);
  }

  bool is_given() const { return names || tflops || gbs; }

  std::vector<Peak> peaks(const OptionParser& parser) const {
    std::vector<std::pair<std::string, std::size_t>> known;
    for (std::size_t i = 0; i < known_peaks().size(); ++i) {
      known.emplace_back(known_peaks()[i].name, i);
    }
    std::vector<Peak> peaks;
    if (names || (!tflops && !gbs)) {
      std::vector<std::size_t> chosen;
      for (const std::string& name : split_at_commas(names.value_or(kDefaultPeaks))) {
        add_once(chosen, parse_choice<std::size_t>(parser, "--peak", name, known));
      }
      for (const std::size_t i : chosen) peaks.push_back(known_peaks()[i]);
    }
    if (!tflops != !gbs) parser.reject("--peak-tflops and --peak-gbs need each other");
    if (tflops) peaks.push_back(own_peak(parser));
    return peaks;
  }

 private:
  Peak own_peak(const OptionParser& parser) const {
    const Arguments parts = split_at_commas(*tflops);
    if (parts.size() > 2) parser.reject("--peak-tflops: expected X or X,Y, found more");
    Peak peak{.name = "given"};
    peak.tflops_half = positive(parser, "--peak-tflops", parts.front());
    peak.tflops_fp32 = positive(parser, "--peak-tflops", parts.back());
    peak.gbs = positive(parser, "--peak-gbs", *gbs);
    return peak;
  }
  static double positive(const OptionParser& parser, const std::string& option,
                         const std::string& text) {
    return parser.checked_number(option, text, kSmallestPeak, kLargestPeak);
  }

  static constexpr const char* kDefaultPeaks = "T4,V100,A100,H100";
  static constexpr double kSmallestPeak = 1e-6, kLargestPeak = 1e9;
};

// What bench does in place of a sweep, and where pictures go.
struct ModeTexts {
  bool floors = false, profile = false;
  OptionalText after, report;
  Arguments merged;

  void declare(OptionParser& parser) {
    parser.flag("--floors",
                "instead of measuring: what each operation of a step must cost at least; needs no "
                "GPU",
                floors);
    parser.flag("--profile", "time by operation and phase, the precisions beside each other",
                profile);
    parser.value("--after", "T1,T2,...",
                 "trains every precision for these times (minutes, or 90s, 7m, 1.5h) and puts the "
                 "grids and what each has learnt beside each other",
                 after);
    parser.list("--merge", "FILE...",
                "no measuring: one report from these bench.json and after.json files, of any "
                "machines",
                merged);
    parser.value("--report", "DIR",
                 "writes figures (SVG and PNG, drawn by gnuplot) and a self-contained report.html",
                 report);
  }

  BenchMode mode(const OptionParser& parser) const {
    if (floors + profile + after.has_value() + !merged.empty() > 1) {
      parser.reject("--floors, --profile, --after and --merge exclude each other");
    }
    return floors            ? BenchMode::Floors
           : profile         ? BenchMode::Profile
           : after           ? BenchMode::After
           : !merged.empty() ? BenchMode::Merge
                             : BenchMode::Sweep;
  }

  std::vector<double> minutes() const {
    std::vector<double> times;
    for (const std::string& part : split_at_commas(*after)) {
      add_once(times, parse_minutes(part, "--after"));
    }
    std::ranges::sort(times);
    return times;
  }
};

// What an option was given for that does not use it.
void check_uses(const OptionParser& parser, BenchMode mode, const ModeTexts& modes,
                const PeakTexts& peaks, const PriceTexts& price, bool has_outdir) {
  if (mode != BenchMode::Floors && peaks.is_given()) {
    parser.reject("--peak, --peak-tflops and --peak-gbs need --floors");
  }
  const bool writes = mode == BenchMode::Sweep || mode == BenchMode::After;
  if (!writes && has_outdir) {
    parser.reject("only a sweep and --after write files into --outdir: leave it out");
  }
  if (mode != BenchMode::Sweep && price.is_given()) {
    parser.reject("only a sweep counts costs: leave the prices out");
  }
  if (!writes && mode != BenchMode::Merge && modes.report) {
    parser.reject("--floors and --profile have no report: leave --report out");
  }
  if (mode == BenchMode::Merge && !modes.report) {
    parser.reject("--merge needs --report DIR, where the report goes");
  }
}

// What --set says and bench would not follow.
void check_settings(const OptionParser& parser, const std::vector<ConfigOverride>& settings,
                    bool has_batches, bool has_halves) {
  for (const ConfigOverride& setting : settings) {
    if (setting.key == "train.batch" && has_batches) {
      parser.reject("--batch and --set train.batch exclude each other");
    }
    if (setting.key == "precision.mode") {
      parser.reject("--set precision.mode: bench measures what --precision lists");
    }
    if (setting.key == "precision.half" && has_halves) {
      parser.reject("--half and --set precision.half exclude each other");
    }
  }
}

}  // namespace

Command parse_bench(const Arguments& arguments) {
  OptionParser parser("bench", "Measures training in fp32 and mixed precision.");
  BenchCommand command;
  OptionalText config, batches, precisions, halves, outdir;
  LimitTexts limits;
  PriceTexts price;
  PeakTexts peaks;
  ModeTexts modes;
  bool quiet = false;
  parser.value("-c,--config", "FILE", "YAML config; required", config);
  parser.value("--batch", "N1,N2,...",
               "batch sizes, integers from 2 to 65536; default: the config's", batches);
  parser.value("--precision", "LIST", "of fp32, mixed; default both", precisions);
  parser.value("--half", "LIST",
               "16-bit types of mixed, of auto, fp16, bf16; default: the config's", halves);
  limits.declare(parser);
  price.declare(parser);
  parser.value("--outdir", "DIR",
               fmt::format("where bench.csv and bench.json go, in place of older ones; default {}",
                           command.request.outdir),
               outdir);
  modes.declare(parser);
  peaks.declare(parser);
  const ConfigOptions options(parser, kConfigOptions);
  parser.flag("-q,--quiet", "warnings and errors only", quiet);

  if (auto help = parser.parse(arguments)) return *help;
  BenchRequest& request = command.request;
  request.mode = modes.mode(parser);
  const bool is_merge = request.mode == BenchMode::Merge;
  if (!config && !is_merge) parser.reject("expected a config (-c FILE.yaml), found none");
  if (config && is_merge) parser.reject("--merge measures nothing: leave -c out");
  command.config_path = config.value_or("");
  command.overrides = options.overrides();
  if (batches) request.sweep.batches = parse_batches(parser, *batches);
  request.sweep.choices = parse_choices(parser, precisions, halves);
  command.half_from_config = !halves;
  request.sweep.limits = limits.limits(parser);
  request.price = price.request(parser);
  request.peaks = peaks.peaks(parser);
  check_uses(parser, request.mode, modes, peaks, price, outdir.has_value());
  check_settings(parser, command.overrides, batches.has_value(), halves.has_value());
  if (request.mode == BenchMode::After) {
    request.after_minutes = modes.minutes();
    if (request.after_minutes.front() <= 0)
      parser.reject("--after: expected times above 0, found 0");
    if (request.sweep.batches.size() > 1) {
      parser.reject("--after trains at one batch size: give --batch one number");
    }
  }
  request.merged = modes.merged;
  request.report = modes.report;
  if (request.report && request.report->empty()) {
    parser.reject("--report must name a folder, found nothing");
  }
  if (outdir) request.outdir = *outdir;
  if (request.outdir.empty()) parser.reject("--outdir must name a folder, found nothing");
  request.program = "acgan-train " ACGAN_VERSION;
  request.command = command_text(arguments);
  if (quiet) command.verbosity = Verbosity::Quiet;
  return command;
}

}  // namespace acgan
