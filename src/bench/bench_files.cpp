#include "bench/bench_files.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <variant>

#include "base/atomic_file.h"
#include "base/error.h"
#include "run/run_directory.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

// Members stay in the order they were added in.
using Json = nlohmann::ordered_json;

constexpr const char* kCsvName = "bench.csv";
constexpr const char* kJsonName = "bench.json";
constexpr const char* kProbeName = ".bench_probe";

// A figure of a row; nothing where it does not exist.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct Column {
  const char* name;
  std::function<Cell(const BenchRow&)> cell;
};

Cell measured(const BenchRow& row, double value) {
  return row.is_measured() ? Cell(value) : Cell();
}
Cell known(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }
Cell paid(const BenchRow& row, double BenchCost::*member) {
  return row.cost ? Cell(*row.cost.*member) : Cell();
}
Cell timed(const BenchRow& row, double TimedTraining::*member) {
  return row.timed ? Cell(*row.timed.*member) : Cell();
}

const std::vector<Column>& columns() {
  using Row = const BenchRow&;
  static const std::vector<Column> kColumns{
      {"device", [](Row r) { return Cell(r.device); }},
      {"precision", [](Row r) { return Cell(r.precision); }},
      {"half", [](Row r) { return Cell(r.half); }},
      {"tf32", [](Row r) { return Cell(r.tf32); }},
      {"conv", [](Row r) { return Cell(r.conv); }},
      {"batch", [](Row r) { return Cell(r.batch); }},
      {"warmup", [](Row r) { return Cell(r.warmup); }},
      {"iterations", [](Row r) { return Cell(r.iterations); }},
      {"median_ms", [](Row r) { return measured(r, r.median_ms); }},
      {"p10_ms", [](Row r) { return measured(r, r.p10_ms); }},
      {"p90_ms", [](Row r) { return measured(r, r.p90_ms); }},
      {"images_per_s", [](Row r) { return measured(r, r.images_per_second); }},
      {"peak_mib", [](Row r) { return measured(r, r.peak_mib); }},
      {"skipped", [](Row r) { return Cell(r.skipped); }},
      {"seconds_per_1000", [](Row r) { return measured(r, r.seconds_per_1000); }},
      {"price_per_hour", [](Row r) { return paid(r, &BenchCost::price_per_hour); }},
      {"cost_per_million_batches", [](Row r) { return paid(r, &BenchCost::per_million_batches); }},
      {"speedup_vs_fp32", [](Row r) { return known(r.speedup_vs_fp32); }},
      // Beyond what other programs were promised; new columns go to the end.
      {"gflops", [](Row r) { return measured(r, r.gflops); }},
      {"median_low_ms", [](Row r) { return measured(r, r.median_low_ms); }},
      {"median_high_ms", [](Row r) { return measured(r, r.median_high_ms); }},
      {"cost_per_1000_images", [](Row r) { return paid(r, &BenchCost::per_1000_images); }},
      {"cost_per_million_images", [](Row r) { return paid(r, &BenchCost::per_million_images); }},
      {"minutes", [](Row r) { return timed(r, &TimedTraining::minutes); }},
      {"batches_in_minutes", [](Row r) { return timed(r, &TimedTraining::batches); }},
      {"images_in_minutes", [](Row r) { return timed(r, &TimedTraining::images); }},
      {"cost_of_minutes", [](Row r) { return r.timed ? known(r.timed->cost) : Cell(); }},
      {"ended_by", [](Row r) { return Cell(r.ended_by); }},
      {"note", [](Row r) { return Cell(r.note); }},
  };
  return kColumns;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c == '\n' || c == '\r' ? ' ' : c;
  }
  return quoted + '"';
}

struct CsvCell {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : "";
  }
  std::string operator()(const std::string& value) const { return csv_text(value); }
};

struct JsonCell {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(double value) const { return std::isfinite(value) ? Json(value) : Json(); }
  template <typename Value>
  Json operator()(const Value& value) const {
    return value;
  }
};

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    fail(ErrorKind::Output, "cannot make the folder {}: {}; choose another place with --outdir",
         folder, error.message());
  }
}

// The part of a path that is not there yet; whatever of it was made since is removed in the end,
// as far as it is empty.
class MissingFolders {
 public:
  explicit MissingFolders(const std::string& folder) {
    std::error_code ignored;
    for (fs::path path = fs::absolute(folder).lexically_normal();
         path.has_relative_path() && !fs::exists(path, ignored); path = path.parent_path()) {
      missing_.push_back(path);
    }
  }
  ~MissingFolders() {
    std::error_code ignored;
    for (const fs::path& path : missing_) fs::remove(path, ignored);
  }
  MissingFolders(const MissingFolders&) = delete;
  MissingFolders& operator=(const MissingFolders&) = delete;

 private:
  std::vector<fs::path> missing_;  // the innermost first
};

Json machine_json(const Machine& machine) {
  return {{"device", machine.device},         {"description", machine.description},
          {"processor", machine.processor},   {"processors", machine.processors},
          {"memory_mib", machine.memory_mib}, {"system", machine.system}};
}

Json limits_json(const SweepLimits& limits) {
  return {{"warmup", limits.warmup},
          {"min_seconds", limits.min_seconds},
          {"max_seconds", limits.max_seconds},
          {"spread", limits.spread}};
}

}  // namespace

std::string bench_csv(const std::vector<BenchRow>& rows) {
  std::string text;
  for (const Column& column : columns()) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", column.name);
  }
  text += '\n';
  for (const BenchRow& row : rows) {
    std::string line;
    for (const Column& column : columns()) {
      if (&column != &columns().front()) line += ',';
      line += std::visit(CsvCell{}, column.cell(row));
    }
    text += line + '\n';
  }
  return text;
}

std::string bench_json(const SweepResult& result, const BenchContext& context) {
  Json rows = Json::array();
  for (const BenchRow& row : result.rows) {
    Json object = Json::object();
    for (const Column& column : columns()) {
      object[column.name] = std::visit(JsonCell{}, column.cell(row));
    }
    rows.push_back(std::move(object));
  }
  const Json document{{"format", "acgan-train bench"},
                      {"version", kBenchFormatVersion},
                      {"program", context.program},
                      {"command", context.command},
                      {"began", context.began},
                      {"ended", result.ended},
                      {"machine", machine_json(context.machine)},
                      {"data", context.data},
                      {"limits", limits_json(context.limits)},
                      {"price", context.price.empty() ? Json() : Json(context.price)},
                      {"config_name", context.config_name},
                      {"config", context.config},
                      {"rows", std::move(rows)}};
  // Bytes that are no UTF-8 (a folder's name) become U+FFFD.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void check_bench_folder(const std::string& folder) {
  RunDirectory::check_can_create(folder);
  std::error_code ignored;
  for (const char* name : {kCsvName, kJsonName}) {
    const fs::path file = fs::path(folder) / name;
    if (!fs::is_directory(file, ignored)) continue;
    fail(ErrorKind::Output, "cannot write {}: it is a folder; choose another place with --outdir",
         file.string());
  }
  const MissingFolders missing(folder);
  make_folder(folder);
  const std::string probe = (fs::path(folder) / kProbeName).string();
  write_file_atomically(probe, "");
  fs::remove(probe, ignored);
}

void write_bench_files(const std::string& folder, const SweepResult& result,
                       const BenchContext& context) {
  make_folder(folder);
  remove_stale_temporary_files(folder);
  write_file_atomically((fs::path(folder) / kCsvName).string(), bench_csv(result.rows));
  write_file_atomically((fs::path(folder) / kJsonName).string(), bench_json(result, context));
}

}  // namespace acgan
