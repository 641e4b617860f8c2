#include "bench/read_bench_file.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "bench/bench_columns.h"
#include "bench/bench_files.h"

namespace acgan {
namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t kLargestFile = 16 << 20;

class BenchFileReader {
 public:
  explicit BenchFileReader(const std::string& path) : path_(path) {}

  BenchDocument read() {
    const Json json = parse();
    check_format(json);
    BenchDocument document;
    document.context = context_of(json);
    document.result.ended = text(json, "ended");
    document.result.rows = rows_of(json, "rows", bench_columns());
    for (const BenchRow& row : document.result.rows) check_row(row);
    if (json.contains("after")) document.after = after_of(object_at(json, "after"));
    document.after.ended = document.result.ended;
    if (document.result.rows.empty() && document.after.rows.empty()) {
      fail(ErrorKind::Usage, "{} has no rows: nothing was measured", path_);
    }
    return document;
  }

 private:
  static std::string contents(const std::string& path) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) fail(ErrorKind::Usage, "cannot read {}: {}", path, error.message());
    if (size > kLargestFile) {
      fail(ErrorKind::Usage, "{} has {} bytes; expected at most {} in a file of bench", path, size,
           kLargestFile);
    }
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) fail(ErrorKind::Usage, "cannot read {}", path);
    return text.str();
  }

  Json parse() const {
    Json document = Json::parse(contents(path_), nullptr, false);
    if (document.is_discarded()) {
      fail(ErrorKind::Usage, "{} is no bench.json: expected JSON, as acgan-train bench writes it",
           path_);
    }
    return document;
  }

  void check_format(const Json& document) const {
    if (!document.is_object() || document.value("format", Json()) != kBenchFormat) {
      fail(ErrorKind::Usage, "{} is no bench.json: expected \"format\": \"{}\" in it", path_,
           kBenchFormat);
    }
    const Json version = document.value("version", Json());
    if (version != kBenchFormatVersion) {
      fail(ErrorKind::Usage,
           "{} has version {} of the format, this program reads version {}: measure again with "
           "this program, or merge with the one that wrote it",
           path_, version.dump(), kBenchFormatVersion);
    }
  }

  [[noreturn]] void reject(const std::string& place, const std::string& expected,
                           const Json& found) const {
    std::string shown = found.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (shown.size() > 60) shown = shown.substr(0, 57) + "...";
    fail(ErrorKind::Usage, "{}: {}: expected {}, found {}", path_, place, expected, shown);
  }

  std::string text(const Json& object, const char* key) const {
    const Json value = object.value(key, Json());
    if (!value.is_string()) reject(key, "a text", value);
    return value.get<std::string>();
  }
  double number(const Json& object, const char* key) const {
    const Json value = object.value(key, Json());
    if (!value.is_number()) reject(key, "a number", value);
    return value.get<double>();
  }
  Json object_at(const Json& document, const char* key) const {
    Json value = document.value(key, Json());
    if (!value.is_object()) reject(key, "an object", value);
    return value;
  }

  BenchContext context_of(const Json& document) const {
    const Json machine = object_at(document, "machine"), limits = object_at(document, "limits");
    return {.program = text(document, "program"),
            .command = text(document, "command"),
            .config_name = text(document, "config_name"),
            .config = text(document, "config"),
            .data = text(document, "data"),
            .began = text(document, "began"),
            .machine = {.device = text(machine, "device"),
                        .description = text(machine, "description"),
                        .processor = text(machine, "processor"),
                        .processors = static_cast<std::int64_t>(number(machine, "processors")),
                        .memory_mib = number(machine, "memory_mib"),
                        .system = text(machine, "system")},
            .limits = {.warmup = static_cast<std::int64_t>(number(limits, "warmup")),
                       .min_seconds = number(limits, "min_seconds"),
                       .max_seconds = number(limits, "max_seconds"),
                       .spread = number(limits, "spread")},
            .price = document.value("price", Json()).is_null() ? "" : text(document, "price")};
  }

  Cell cell_of(const Json& value, const std::string& place) const {
    if (value.is_null()) return {};
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    reject(place, "a text, a number, true, false or null", value);
  }

  template <typename Row>
  std::vector<Row> rows_of(const Json& json, const char* key,
                           const std::vector<FileColumn<Row>>& columns) const {
    const Json list = json.value(key, Json());
    if (!list.is_array()) reject(key, "a list", list);
    std::vector<Row> rows;
    for (const Json& object : list) {
      const std::string place = fmt::format("{}[{}]", key, rows.size());
      if (!object.is_object()) reject(place, "an object", object);
      rows.emplace_back();
      for (const auto& column : columns) {
        const std::string name = fmt::format("{}.{}", place, column.name);
        if (!object.contains(column.name)) reject(name, "a value", Json());
        const Json& value = object[column.name];
        if (!column.set(rows.back(), cell_of(value, name))) reject(name, "a value", value);
      }
    }
    return rows;
  }

  void check_row(const BenchRow& row) const {
    const bool is_sound = row.batch > 0 && row.iterations >= 0 &&
                          (!row.is_measured() || (row.median_ms > 0 && row.p10_ms > 0 &&
                                                  row.p90_ms > 0 && row.seconds_per_1000 > 0));
    if (!is_sound) {
      fail(ErrorKind::Usage, "{}: expected a batch and times above 0 in every row, found others",
           path_);
    }
  }

  // Text entries of a list.
  std::vector<std::string> texts(const Json& json, const char* key) const {
    const Json list = json.value(key, Json());
    if (!list.is_array()) reject(key, "a list", list);
    std::vector<std::string> result;
    for (const Json& entry : list) {
      if (!entry.is_string()) reject(key, "a list of texts", entry);
      result.push_back(entry.get<std::string>());
    }
    return result;
  }

  AfterResult after_of(const Json& json) const {
    AfterResult after;
    after.batch = static_cast<std::int64_t>(number(json, "batch"));
    after.class_names = texts(json, "class_names");
    after.quality_note = text(json, "quality_note");
    after.rows = rows_of(json, "rows", after_columns());
    for (const std::string& name : texts(json, "figures")) {
      after.figures.emplace_back(name, picture(name));
    }
    return after;
  }

  // Only what lies beside the file itself is read, and only if it is a PNG.
  std::string picture(const std::string& name) const {
    const bool is_plain =
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string::npos &&
        name.ends_with(".png") && !name.starts_with(".");
    if (!is_plain) {
      fail(ErrorKind::Usage, "{}: figures: expected names of PNG files beside it, found '{}'",
           path_, name);
    }
    const std::string file = (std::filesystem::path(path_).parent_path() / name).string();
    std::string png = contents(file);
    if (!png.starts_with("\x89PNG\r\n\x1a\n")) {
      fail(ErrorKind::Usage, "{}, which {} names, is no PNG", file, path_);
    }
    return png;
  }

  const std::string& path_;
};

}  // namespace

BenchDocument read_bench_file(const std::string& path) { return BenchFileReader(path).read(); }

}  // namespace acgan
