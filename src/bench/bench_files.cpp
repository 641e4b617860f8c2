#include "bench/bench_files.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "bench/bench_columns.h"
#include "bench/output_folder.h"

namespace acgan {
namespace {

namespace fs = std::filesystem;

// Members stay in the order they were added in.
using Json = nlohmann::ordered_json;

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

template <typename Row>
Json rows_json(const std::vector<Row>& rows, const std::vector<FileColumn<Row>>& columns) {
  Json list = Json::array();
  for (const Row& row : rows) {
    Json object = Json::object();
    for (const auto& column : columns)
      object[column.name] = std::visit(JsonCell{}, column.get(row));
    list.push_back(std::move(object));
  }
  return list;
}

Json after_json(const AfterResult& after) {
  Json figures = Json::array();
  for (const auto& [name, png] : after.figures) figures.push_back(name);
  return {{"batch", after.batch},
          {"class_names", after.class_names},
          {"quality_note", after.quality_note},
          {"figures", figures},
          {"rows", rows_json(after.rows, after_columns())}};
}

}  // namespace

std::string bench_csv(const std::vector<BenchRow>& rows) {
  std::string text;
  for (const auto& column : bench_columns()) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", column.name);
  }
  text += '\n';
  for (const BenchRow& row : rows) {
    std::string line;
    for (const auto& column : bench_columns()) {
      if (&column != &bench_columns().front()) line += ',';
      line += std::visit(CsvCell{}, column.get(row));
    }
    text += line + '\n';
  }
  return text;
}

std::string bench_json(const BenchDocument& document) {
  const BenchContext& context = document.context;
  Json json{{"format", kBenchFormat},
            {"version", kBenchFormatVersion},
            {"program", context.program},
            {"command", context.command},
            {"began", context.began},
            {"ended", document.result.ended},
            {"machine", machine_json(context.machine)},
            {"data", context.data},
            {"limits", limits_json(context.limits)},
            {"price", context.price.empty() ? Json() : Json(context.price)},
            {"config_name", context.config_name},
            {"config", context.config},
            {"rows", rows_json(document.result.rows, bench_columns())}};
  if (!document.after.rows.empty()) json["after"] = after_json(document.after);
  // Bytes that are no UTF-8 (a folder's name) become U+FFFD.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void check_bench_folder(const std::string& folder) {
  check_output_folder(folder, {kBenchCsvName, kBenchJsonName}, "--outdir");
}

void write_bench_files(const std::string& folder, const BenchDocument& document) {
  make_output_folder(folder, "--outdir");
  write_file_atomically((fs::path(folder) / kBenchCsvName).string(),
                        bench_csv(document.result.rows));
  write_file_atomically((fs::path(folder) / kBenchJsonName).string(), bench_json(document));
}

void check_after_folder(const std::string& folder) {
  check_output_folder(folder, {kAfterJsonName}, "--outdir");
}

void write_after_file(const std::string& folder, const BenchDocument& document) {
  write_file_atomically((fs::path(folder) / kAfterJsonName).string(), bench_json(document));
}

}  // namespace acgan
