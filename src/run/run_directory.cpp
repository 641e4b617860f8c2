#include "run/run_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"
#include "run/checkpoint.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCheckpointStart = "step_";
constexpr std::string_view kCheckpointEnd = ".safetensors";
constexpr std::string_view kOldConfigStart = "config_until_step_";
constexpr std::string_view kOldConfigEnd = ".yaml";

// A decimal number that fills `text`; none otherwise.
std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || number < 0) return std::nullopt;
  return number;
}

// The config's name with [A-Za-z0-9._-] only, short enough for a file name.
std::string clean_name(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  const auto is_allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  std::string cleaned = name.empty() ? "run" : name.substr(0, kLongest);
  std::ranges::replace_if(
      cleaned, [&](char c) { return !is_allowed(c); }, '_');
  return cleaned;
}

// "-<config>-<precision>-batch<N>": the part after the number.
std::string ending_of(const Config& config) {
  const bool is_mixed = config.precision.mode == PrecisionMode::Mixed;
  return fmt::format("-{}-{}-batch{}", clean_name(config.name), is_mixed ? "mixed" : "fp32",
                     config.train.batch);
}

// The number in front of a run directory's name and the rest of the name; none for other names.
struct NumberedName {
  std::int64_t number = 0;
  std::string_view ending;
};
std::optional<NumberedName> parse_run_name(std::string_view name) {
  constexpr std::size_t kFewestDigits = 5, kMostDigits = 9;
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos || dash < kFewestDigits || dash > kMostDigits) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number = parse_number(name.substr(0, dash));
  if (!number) return std::nullopt;
  return NumberedName{*number, name.substr(dash)};
}

// The step in a name between these two; none for other names.
std::optional<std::int64_t> step_between(std::string_view start, std::string_view end,
                                         std::string_view name) {
  if (name.size() <= start.size() + end.size() || !name.starts_with(start) ||
      !name.ends_with(end)) {
    return std::nullopt;
  }
  name.remove_prefix(start.size());
  name.remove_suffix(end.size());
  return parse_number(name);
}

std::optional<std::int64_t> step_of_checkpoint(std::string_view name) {
  return step_between(kCheckpointStart, kCheckpointEnd, name);
}

// The step in "fakes_000123_07m00s.png".
std::optional<std::int64_t> step_of_fakes(std::string_view name) {
  constexpr std::string_view kStart = "fakes_";
  if (!name.starts_with(kStart) || !name.ends_with("s.png")) return std::nullopt;
  const std::string_view rest = name.substr(kStart.size());
  return parse_number(rest.substr(0, rest.find('_')));
}

// A config that a run wrote; "" where there is none.
std::string read_config(const std::string& path) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  if (fs::file_size(path, error) > kLargest) {
    fail(ErrorKind::Output, "{} has more than 1 MiB, so it is no config of ours: move it away",
         path);
  }
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Names of what lies in `folder`, in no order; none where it is missing.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) {
    return names;
  }
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    names.push_back(entries->path().filename().string());
  }
  if (error) {
    fail(ErrorKind::Output,
         "cannot list the folder {}: {}; check its permissions or choose another", folder,
         error.message());
  }
  return names;
}

// Steps and their files, highest step first.
using StepFiles = std::vector<std::pair<std::int64_t, std::string>>;

StepFiles numbered_checkpoints(const std::string& run) {
  const std::string folder = run + "/checkpoints";
  StepFiles found;
  for (const std::string& name : names_in(folder)) {
    if (const auto step = step_of_checkpoint(name))
      found.emplace_back(*step, fmt::format("{}/{}", folder, name));
  }
  std::ranges::sort(found, std::ranges::greater());
  return found;
}

// -1 where the file cannot be read: whoever takes it will say why.
std::int64_t step_in_metadata(const std::string& checkpoint) {
  try {
    return parse_number(Checkpoint::load_texts(checkpoint)["step"]).value_or(-1);
  } catch (const Error&) {
    return -1;
  }
}

StepFiles all_checkpoints(const std::string& run, const std::string& best) {
  StepFiles found = numbered_checkpoints(run);
  std::error_code ignored;
  if (!fs::exists(best, ignored)) return found;
  const std::int64_t step = step_in_metadata(best);
  const auto place =
      std::ranges::find_if(found, [&](const auto& numbered) { return numbered.first < step; });
  found.insert(place, {step, best});
  return found;
}

void remove_checkpoint(const std::string& file) {
  std::error_code error;
  fs::remove(file, error);
  if (!error) return;
  fail(ErrorKind::Output, "cannot remove the old checkpoint {}: {}; check its permissions", file,
       error.message());
}

[[noreturn]] void fail_to_make(const std::string& folder, const std::error_code& error) {
  fail(ErrorKind::Output, "cannot make the folder {}: {}; choose another place with --outdir",
       folder, error.message());
}

// Creates one folder; false where something of that name is there already.
bool make_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0777) == 0) return true;
  if (errno == EEXIST) return false;
  fail_to_make(folder, std::error_code(errno, std::generic_category()));
}

}  // namespace

RunDirectory RunDirectory::create(const std::string& outdir, const Config& config) {
  std::error_code error;
  fs::create_directories(outdir, error);
  if (!error && !fs::is_directory(outdir, error) && !error) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error) fail_to_make(outdir, error);

  std::int64_t number = 0;
  for (const std::string& name : names_in(outdir)) {
    if (const auto run = parse_run_name(name)) number = std::max(number, run->number + 1);
  }
  // Another run started at the same moment may take the number first.
  const std::string ending = ending_of(config);
  const auto path_of = [&] { return fs::path(outdir) / fmt::format("{:05d}{}", number, ending); };
  while (!make_folder(path_of().string())) ++number;

  const fs::path path = path_of();
  for (const char* folder : {"samples", "checkpoints"}) make_folder((path / folder).string());
  return RunDirectory(path.string());
}

void RunDirectory::check_can_create(const std::string& outdir) {
  fs::path nearest = fs::absolute(outdir).lexically_normal();
  std::error_code error;
  while (!fs::exists(nearest, error) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  if (!fs::is_directory(nearest, error)) {
    fail_to_make(outdir, std::make_error_code(std::errc::not_a_directory));
  }
  if (::access(nearest.c_str(), W_OK | X_OK) != 0) {
    fail_to_make(outdir, std::error_code(errno, std::generic_category()));
  }
}

RunDirectory RunDirectory::open(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::path(path).lexically_normal();
  if (!fs::is_directory(folder / "checkpoints", error)) {
    fail(ErrorKind::Output,
         "{} is no run directory: there is no folder checkpoints in it; give the path of an "
         "NNNNN-<config>-<precision>-batch<N> folder",
         path);
  }
  RunDirectory run((folder.has_filename() ? folder : folder.parent_path()).string());
  // Somebody may have cleared the samples away. In a folder that is only read this fails, and may.
  fs::create_directory(folder / "samples", error);
  for (const fs::path& part : {folder, folder / "samples", folder / "checkpoints"}) {
    remove_stale_temporary_files(part.string());
  }
  return run;
}

std::optional<RunDirectory> RunDirectory::find_latest(const std::string& outdir,
                                                      const Config& config) {
  const std::string ending = ending_of(config);
  std::vector<std::pair<std::int64_t, std::string>> runs;
  for (const std::string& name : names_in(outdir)) {
    const auto run = parse_run_name(name);
    if (run && run->ending == ending) runs.emplace_back(run->number, name);
  }
  std::ranges::sort(runs, std::ranges::greater());
  for (const auto& [number, name] : runs) {
    const RunDirectory run((fs::path(outdir) / name).string());
    if (!run.checkpoints().empty()) return open(run.path());
  }
  return std::nullopt;
}

std::string RunDirectory::config_file() const { return path_ + "/config.yaml"; }
std::string RunDirectory::config_file_until(std::int64_t step) const {
  return fmt::format("{}/{}{:06d}{}", path_, kOldConfigStart, step, kOldConfigEnd);
}

std::optional<std::string> RunDirectory::change_config(const std::string& config,
                                                       std::int64_t step) const {
  std::map<std::int64_t, std::string> later;  // step until which they ran -> file
  for (const std::string& name : names_in(path_)) {
    const auto until = step_between(kOldConfigStart, kOldConfigEnd, name);
    if (until && *until >= step) later[*until] = fmt::format("{}/{}", path_, name);
  }
  const std::string ran = read_config(later.empty() ? config_file() : later.begin()->second);
  std::optional<std::string> kept;
  if (!ran.empty() && ran != config) {
    kept = config_file_until(step);
    write_file_atomically(*kept, ran);
  }
  write_file_atomically(config_file(), config);
  for (const auto& [until, file] : later) {
    if (file == kept) continue;
    std::error_code error;
    fs::remove(file, error);
    if (error) {
      fail(ErrorKind::Output, "cannot remove {}: {}; check its permissions", file, error.message());
    }
  }
  return kept;
}

std::string RunDirectory::log_file() const { return path_ + "/log.txt"; }
std::string RunDirectory::timing_file() const { return path_ + "/timing.csv"; }
std::string RunDirectory::stats_file() const { return path_ + "/stats.jsonl"; }
std::string RunDirectory::summary_file() const { return path_ + "/summary.json"; }
std::string RunDirectory::metrics_file() const { return path_ + "/metrics.jsonl"; }
std::string RunDirectory::reals_file() const { return path_ + "/samples/reals.png"; }
std::string RunDirectory::fakes_init_file() const { return path_ + "/samples/fakes_init.png"; }

std::string RunDirectory::fakes_file(std::int64_t step, double elapsed_seconds) const {
  ACGAN_CHECK(elapsed_seconds >= 0);
  const auto seconds = static_cast<std::int64_t>(std::floor(elapsed_seconds));
  return fmt::format("{}/samples/fakes_{:06d}_{:02d}m{:02d}s.png", path_, step, seconds / 60,
                     seconds % 60);
}

std::vector<std::string> RunDirectory::fakes_files() const {
  const std::string folder = path_ + "/samples";
  std::vector<std::pair<std::int64_t, std::string>> found;
  std::error_code ignored;
  if (fs::is_regular_file(fakes_init_file(), ignored)) found.emplace_back(-1, fakes_init_file());
  for (const std::string& name : names_in(folder)) {
    if (const auto step = step_of_fakes(name)) {
      found.emplace_back(*step, fmt::format("{}/{}", folder, name));
    }
  }
  std::ranges::sort(found);
  std::vector<std::string> paths;
  paths.reserve(found.size());
  for (auto& [step, path] : found) paths.push_back(std::move(path));
  return paths;
}

std::string RunDirectory::animation_file() const { return path_ + "/samples/progress.webp"; }
std::string RunDirectory::report_file() const { return path_ + "/report.html"; }
std::string RunDirectory::tensorboard_folder() const { return path_ + "/tensorboard"; }

std::string RunDirectory::checkpoint_file(std::int64_t step) const {
  return fmt::format("{}/checkpoints/{}{:06d}{}", path_, kCheckpointStart, step, kCheckpointEnd);
}

std::string RunDirectory::best_file() const { return path_ + "/checkpoints/best.safetensors"; }

std::vector<std::string> RunDirectory::checkpoints() const {
  std::vector<std::string> paths;
  for (auto& [step, path] : all_checkpoints(path_, best_file())) paths.push_back(std::move(path));
  return paths;
}

std::optional<std::int64_t> RunDirectory::newest_step() const {
  const auto found = all_checkpoints(path_, best_file());
  return found.empty() ? std::nullopt : std::optional(found.front().first);
}

void RunDirectory::remove_best() const { remove_checkpoint(best_file()); }

void RunDirectory::prune(std::int64_t newest, std::int64_t keep) const {
  ACGAN_CHECK(keep >= 1);
  std::int64_t kept = 0;
  for (const auto& [step, file] : numbered_checkpoints(path_)) {
    if (step <= newest && kept++ < keep) continue;
    remove_checkpoint(file);
  }
  const std::string folder = path_ + "/samples";
  for (const std::string& name : names_in(folder)) {
    std::error_code ignored;  // a grid that stays costs no more than its space
    if (step_of_fakes(name).value_or(newest) > newest) fs::remove(folder + "/" + name, ignored);
  }
}

}  // namespace acgan
