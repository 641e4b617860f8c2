#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/bench_row.h"
#include "config/price_list.h"

namespace acgan {

enum class PriceKind { OnDemand, Spot };

// What a user said about money and time.
struct PriceRequest {
  std::optional<double> per_hour;   // USD; goes before any list
  std::optional<std::string> list;  // a file; none: kDefaultPriceList, where it is there
  std::string region;               // of the list; empty: whichever comes first
  PriceKind kind = PriceKind::OnDemand;
  std::optional<double> minutes;  // of training to tell the cost of
};

// Seen from the folder that the program is started in.
inline constexpr const char* kDefaultPriceList = "configs/prices.yaml";

// The list that the request names, empty without one. Throws Error{Usage}.
std::vector<GpuPrice> price_list_for(const PriceRequest& request);

struct PriceFinding {
  std::optional<double> per_hour;
  std::string origin;  // where it is from, or why there is none; for people
};
PriceFinding find_price_for(const PriceRequest& request, const std::vector<GpuPrice>& prices,
                            const std::string& device);

// Fills in `cost` where there is a price, and `timed` where minutes are given.
void add_costs(std::vector<BenchRow>& rows, const std::optional<double>& per_hour,
               const std::optional<double>& minutes);

}  // namespace acgan
