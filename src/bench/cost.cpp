#include "bench/cost.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/format.h"
#include "config/config_value.h"

namespace acgan {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kMillion = 1e6;

std::string known_gpus(const std::vector<GpuPrice>& prices) {
  std::vector<std::string> names;
  for (const GpuPrice& price : prices) {
    if (std::ranges::find(names, price.gpu) == names.end()) names.push_back(price.gpu);
  }
  return comma_list(names);
}

PriceFinding finding_from(const GpuPrice& price, PriceKind kind) {
  const bool is_spot = kind == PriceKind::Spot;
  if (is_spot && !price.spot) {
    return {std::nullopt, fmt::format("the price list has no spot price of {}", price.gpu)};
  }
  const double per_hour = is_spot ? *price.spot : price.on_demand;
  return {per_hour, fmt::format("{} USD an hour, {} {} in {}{}; {}, {}", per_hour, price.gpu,
                                is_spot ? "spot" : "on demand", price.region,
                                price.includes_host ? "" : ", without the machine around it",
                                price.source, price.date)};
}

}  // namespace

std::vector<GpuPrice> price_list_for(const PriceRequest& request) {
  if (request.list) return load_prices(*request.list);
  std::error_code ignored;
  if (request.per_hour || !std::filesystem::exists(kDefaultPriceList, ignored)) return {};
  return load_prices(kDefaultPriceList);
}

PriceFinding find_price_for(const PriceRequest& request, const std::vector<GpuPrice>& prices,
                            const std::string& device) {
  if (request.per_hour) {
    return {request.per_hour, fmt::format("{} USD an hour, as given", *request.per_hour)};
  }
  if (prices.empty()) return {std::nullopt, "none given"};
  const GpuPrice* const price = find_price(prices, device, request.region);
  if (price != nullptr) return finding_from(*price, request.kind);
  return {std::nullopt,
          fmt::format("the price list has none for '{}'{} (it has {})", device,
                      request.region.empty() ? "" : " in " + request.region, known_gpus(prices))};
}

void add_costs(std::vector<BenchRow>& rows, const std::optional<double>& per_hour,
               const std::optional<double>& minutes) {
  for (BenchRow& row : rows) {
    if (!row.is_measured()) continue;
    if (per_hour) {
      const double per_second = *per_hour / kSecondsPerHour;
      const double per_batch = per_second * 1e-3 * row.mean_ms;
      const double per_image = per_batch / static_cast<double>(row.batch);
      row.cost = BenchCost{.price_per_hour = *per_hour,
                           .per_1000_images = per_image * 1e3,
                           .per_million_images = per_image * kMillion,
                           .per_million_batches = per_batch * kMillion};
    }
    if (minutes) {
      const double batches = *minutes * 60e3 / row.mean_ms;
      row.timed = TimedTraining{.minutes = *minutes,
                                .batches = batches,
                                .images = batches * static_cast<double>(row.batch),
                                .cost = std::nullopt};
      if (per_hour) row.timed->cost = *per_hour * *minutes / 60;
    }
  }
}

}  // namespace acgan
