#include "config/price_list.h"

#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/error.h"
#include "config/nearest_name.h"
#include "config/yaml_document.h"

namespace acgan {

namespace {

constexpr double kDearest = 1e6;  // USD an hour

// One key of an entry: what it takes, and how it is set; false where the value is none of these.
struct PriceKey {
  const char* name;
  const char* allowed;
  std::function<bool(GpuPrice&, const ConfigValue&)> set;
};

std::optional<double> price_from(const ConfigValue& value) {
  const auto number = number_from<double>(value);
  return number && *number >= 0 && *number <= kDearest ? number : std::nullopt;
}

PriceKey text_key(const char* name, std::string GpuPrice::*member) {
  return {name, "text", [member](GpuPrice& price, const ConfigValue& value) {
            price.*member = value.text;
            return value.is_text() && !value.text.empty();
          }};
}

const std::vector<PriceKey>& price_keys() {
  static const std::vector<PriceKey> kKeys{
      text_key("match", &GpuPrice::match),
      text_key("gpu", &GpuPrice::gpu),
      text_key("region", &GpuPrice::region),
      {"on_demand", "USD an hour, a number from 0 to 1e6",
       [](GpuPrice& price, const ConfigValue& value) {
         const auto number = price_from(value);
         price.on_demand = number.value_or(0);
         return number.has_value();
       }},
      {"spot", "USD an hour, a number from 0 to 1e6, or null",
       [](GpuPrice& price, const ConfigValue& value) {
         price.spot = price_from(value);
         return price.spot.has_value() || value.form == ConfigValue::Form::Nothing;
       }},
      {"includes_host", "true or false",
       [](GpuPrice& price, const ConfigValue& value) {
         price.includes_host = value.text == "true";
         return value.form == ConfigValue::Form::Plain &&
                (value.text == "true" || value.text == "false");
       }},
      text_key("source", &GpuPrice::source),
      text_key("date", &GpuPrice::date),
  };
  return kKeys;
}

std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (const PriceKey& key : price_keys()) names.emplace_back(key.name);
  return names;
}

GpuPrice price_from_map(const YAML::Node& map, const YamlSource& source, int line) {
  if (!map.IsMap()) {
    fail(ErrorKind::Usage, "{}: expected a price, a map of {}, found {}", source.at(line),
         comma_list(key_names()), describe(scalar_value(map, line)));
  }
  GpuPrice price;
  std::set<std::string> seen;
  for (const auto& entry : map) {
    const int key_line = line_of(entry.first);
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
    const auto key =
        std::ranges::find_if(price_keys(), [&](const PriceKey& k) { return name == k.name; });
    if (key == price_keys().end()) {
      fail(ErrorKind::Usage, "{}: unknown key '{}' of a price, did you mean '{}'? (it has {})",
           source.at(key_line), name, nearest_name(name, key_names()), comma_list(key_names()));
    }
    if (!seen.insert(name).second) {
      fail(ErrorKind::Usage, "{}: key '{}' stands twice; keep one of the two", source.at(key_line),
           name);
    }
    const ConfigValue value = scalar_value(entry.second, key_line);
    if (key->set(price, value)) continue;
    fail(ErrorKind::Usage, "{}: {} must be {}, found {}", source.at(key_line), name, key->allowed,
         describe(value));
  }
  for (const std::string& name : key_names()) {
    if (seen.contains(name)) continue;
    fail(ErrorKind::Usage, "{}: the price has no {}; each must have {}", source.at(line), name,
         comma_list(key_names()));
  }
  return price;
}

}  // namespace

std::vector<GpuPrice> load_prices(const std::string& path) {
  const YamlSource source{.name = path};
  const YAML::Node root = parse_yaml(read_yaml_file(path, "price list"), source);
  if (!root.IsSequence()) {
    const int line = std::max(1, line_of(root));
    fail(ErrorKind::Usage, "{}: expected a list of prices, found {}", source.at(line),
         describe(scalar_value(root, line)));
  }
  std::vector<GpuPrice> prices;
  for (const YAML::Node& entry : root) {
    prices.push_back(price_from_map(entry, source, std::max(1, line_of(entry))));
  }
  return prices;
}

const GpuPrice* find_price(const std::vector<GpuPrice>& prices, const std::string& device,
                           const std::string& region) {
  const auto is_slice = [](const std::string& name) {
    return name.find("MIG") != std::string::npos;
  };
  for (const GpuPrice& price : prices) {
    if (is_slice(device) && !is_slice(price.match)) continue;
    if (!region.empty() && price.region != region) continue;
    if (fnmatch(price.match.c_str(), device.c_str(), FNM_CASEFOLD) == 0) return &price;
  }
  return nullptr;
}

}  // namespace acgan
