#pragma once

#include <optional>
#include <string>
#include <vector>

namespace acgan {

// What an hour of a GPU costs somewhere; USD.
struct GpuPrice {
  std::string match;  // pattern of the device's whole name; * stands for anything
  std::string gpu;    // as people call it
  std::string region;
  double on_demand = 0;
  std::optional<double> spot;
  bool includes_host = false;  // whether the price is of a whole machine
  std::string source, date;
};

// Reads a YAML list of prices. Keys are strict as in a config: Error{Usage} names file, line, what
// was found and what is allowed.
std::vector<GpuPrice> load_prices(const std::string& path);

// The first entry for a device of this name, in `region` where one is given; null: none. A slice of
// a GPU (MIG) has no price but one of an entry that names slices: the whole one's is too high.
const GpuPrice* find_price(const std::vector<GpuPrice>& prices, const std::string& device,
                           const std::string& region);

}  // namespace acgan
