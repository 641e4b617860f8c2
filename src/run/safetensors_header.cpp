#include "run/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"

namespace acgan {
namespace {

using Json = nlohmann::json;
using Entry = SafetensorsHeader::Entry;

constexpr const char* kMetadata = "__metadata__";
constexpr std::size_t kAlignment = 8;

struct TypeInfo {
  Checkpoint::Type type;
  const char* name;
  std::size_t bytes;
};
constexpr std::array<TypeInfo, 7> kTypes = {{{Checkpoint::Type::F32, "F32", 4},
                                             {Checkpoint::Type::F64, "F64", 8},
                                             {Checkpoint::Type::F16, "F16", 2},
                                             {Checkpoint::Type::BF16, "BF16", 2},
                                             {Checkpoint::Type::U8, "U8", 1},
                                             {Checkpoint::Type::I32, "I32", 4},
                                             {Checkpoint::Type::I64, "I64", 8}}};

const TypeInfo& info_of(Checkpoint::Type type) {
  const auto found = std::ranges::find(kTypes, type, &TypeInfo::type);
  ACGAN_CHECK(found != kTypes.end());
  return *found;
}

// Looks for what Json::parse would let pass: two members of one name (it keeps the last), and deep
// nesting. (Its own callback could look too, but takes quadratic time over the members.)
class StructureCheck final : public nlohmann::json_sax<Json> {
 public:
  // What is wrong; empty when nothing is.
  const std::string& fault() const { return fault_; }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*members*/) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t /*elements*/) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (names_.back().insert(name).second) return true;
    return stop(fmt::format("its header has \"{}\" twice", name));
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return stop(fmt::format("its header is no JSON from byte {} on", position));
  }

 private:
  bool enter() {
    constexpr std::size_t kDeepest = 3;  // all names, one array's fields, a list
    if (names_.size() == kDeepest) return stop("its header is nested too deeply");
    names_.emplace_back();
    return true;
  }
  bool leave() {
    names_.pop_back();
    return true;
  }
  bool stop(const std::string& fault) {
    fault_ = fault;
    return false;
  }

  std::vector<std::set<std::string>> names_;  // of the objects that are open
  std::string fault_;
};

// Takes one header apart; every fault ends in reject_checkpoint().
class HeaderParser {
 public:
  HeaderParser(std::uint64_t data_bytes, const std::string& path)
      : data_bytes_(data_bytes), path_(path) {}

  SafetensorsHeader parse(const std::string& text) const {
    StructureCheck check;
    if (!Json::sax_parse(text, &check)) reject_checkpoint(path_, check.fault());
    const Json json = Json::parse(text);
    if (!json.is_object()) reject_checkpoint(path_, "its header is no JSON object");
    SafetensorsHeader header;
    for (const auto& [name, fields] : json.items()) {
      if (name == kMetadata) {
        header.texts = parse_texts(fields);
      } else {
        header.arrays.push_back(parse_entry(name, fields));
      }
    }
    check_order(header.arrays);
    return header;
  }

 private:
  std::map<std::string, std::string> parse_texts(const Json& metadata) const {
    std::map<std::string, std::string> texts;
    if (!metadata.is_object()) reject_checkpoint(path_, "its __metadata__ is no object");
    for (const auto& [key, value] : metadata.items()) {
      if (!value.is_string()) {
        reject_checkpoint(path_, fmt::format("its __metadata__.{} is no string", key));
      }
      texts[key] = value.get<std::string>();
    }
    return texts;
  }

  Entry parse_entry(const std::string& name, const Json& fields) const {
    if (!fields.is_object()) {
      reject_checkpoint(path_, fmt::format("\"{}\" is described by no object", name));
    }
    Entry entry{.name = name, .type = parse_type(name, fields), .shape = {}};
    entry.shape = parse_numbers(name, fields, "shape");
    const std::vector<std::int64_t> offsets = parse_numbers(name, fields, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1] ||
        static_cast<std::uint64_t>(offsets[1]) > data_bytes_) {
      reject_checkpoint(path_, fmt::format("the data_offsets of \"{}\" should be [begin, end] "
                                           "within {} bytes, but are [{}]",
                                           name, data_bytes_, fmt::join(offsets, ", ")));
    }
    entry.begin = static_cast<std::uint64_t>(offsets[0]);
    entry.end = static_cast<std::uint64_t>(offsets[1]);
    if (byte_count(entry.type, entry.shape) != entry.end - entry.begin) {
      reject_checkpoint(
          path_, fmt::format("\"{}\" is {} [{}], but has {} bytes", name, name_of(entry.type),
                             fmt::join(entry.shape, ", "), entry.end - entry.begin));
    }
    return entry;
  }

  Checkpoint::Type parse_type(const std::string& name, const Json& fields) const {
    const auto type = fields.find("dtype");
    if (type == fields.end() || !type->is_string()) {
      reject_checkpoint(path_, fmt::format("\"{}\" has no dtype", name));
    }
    const auto known = std::ranges::find_if(kTypes, [&](const TypeInfo& info) {
      return type->get_ref<const std::string&>() == info.name;
    });
    if (known != kTypes.end()) return known->type;
    reject_checkpoint(path_, fmt::format("\"{}\" has the unknown dtype {}; F32, F64, F16, BF16, "
                                         "U8, I32 and I64 are known",
                                         name, type->dump()));
  }

  // A list of whole numbers from 0 to the largest int64.
  std::vector<std::int64_t> parse_numbers(const std::string& name, const Json& fields,
                                          const char* key) const {
    const auto list = fields.find(key);
    if (list == fields.end() || !list->is_array()) {
      reject_checkpoint(path_, fmt::format("\"{}\" has no list \"{}\"", name, key));
    }
    std::vector<std::int64_t> numbers;
    for (const Json& number : *list) {
      constexpr auto kLargest = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() > kLargest) {
        reject_checkpoint(path_, fmt::format("\"{}\" of \"{}\" should hold whole numbers, but "
                                             "holds {}",
                                             key, name, number.dump()));
      }
      numbers.push_back(number.get<std::int64_t>());
    }
    return numbers;
  }

  // Sorts the arrays by their place, and checks that they leave no gap and do not overlap.
  void check_order(std::vector<Entry>& arrays) const {
    std::ranges::sort(arrays, {},
                      [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
    std::uint64_t position = 0;
    for (const Entry& entry : arrays) {
      if (entry.begin != position) {
        reject_checkpoint(path_, fmt::format("the bytes of \"{}\" should begin at {} but begin at "
                                             "{} (they overlap others or leave a gap)",
                                             entry.name, position, entry.begin));
      }
      position = entry.end;
    }
    if (position != data_bytes_) {
      reject_checkpoint(path_, fmt::format("its arrays have {} bytes, but {} follow the header",
                                           position, data_bytes_));
    }
  }

  std::uint64_t data_bytes_;
  const std::string& path_;
};

}  // namespace

const char* name_of(Checkpoint::Type type) { return info_of(type).name; }
std::size_t size_of(Checkpoint::Type type) { return info_of(type).bytes; }

std::optional<std::uint64_t> byte_count(Checkpoint::Type type,
                                        const std::vector<std::int64_t>& shape) {
  std::uint64_t bytes = size_of(type);
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

std::string make_utf8(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
}

void reject_checkpoint(const std::string& path, const std::string& fault) {
  fail(ErrorKind::Output,
       "{} is no whole safetensors checkpoint: {}; it is damaged or of another kind, use another "
       "checkpoint",
       path, fault);
}

std::string format_header(const SafetensorsHeader& header) {
  auto json = nlohmann::ordered_json::object();  // arrays in the order of their bytes
  json[kMetadata] = header.texts;
  for (const Entry& entry : header.arrays) {
    ACGAN_CHECK(entry.name != kMetadata);
    json[entry.name] = {{"dtype", name_of(entry.type)},
                        {"shape", entry.shape},
                        {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text = json.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

SafetensorsHeader parse_header(const std::string& text, std::uint64_t data_bytes,
                               const std::string& path) {
  return HeaderParser(data_bytes, path).parse(text);
}

}  // namespace acgan
