#include <catch2/catch.hpp>

#include "base/error.h"
#include "config/price_list.h"
#include "support/temporary_folder.h"

namespace acgan::test {

namespace {

const char* const kEntry =
    "- match: '*P100*'\n"
    "  gpu: P100\n"
    "  region: here\n"
    "  on_demand: 1.5\n"
    "  spot: null\n"
    "  includes_host: false\n"
    "  source: me\n"
    "  date: '2000-01-01'\n";

// A price list as a file of its own.
class PriceFile {
 public:
  explicit PriceFile(const std::string& yaml) : path_(folder_ / "prices.yaml") {
    write_text(path_, yaml);
  }
  std::vector<GpuPrice> load() const { return load_prices(path_); }
  // With FILE for the path; "" where nothing is refused.
  std::string refusal() const {
    try {
      load();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Usage) return "an error of another kind";
      std::string message = error.what();
      const std::size_t at = message.find(path_);
      return at == std::string::npos ? message : message.replace(at, path_.size(), "FILE");
    }
    return "";
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

// kEntry with one piece in the place of another.
std::string changed(const std::string& from, const std::string& to) {
  std::string yaml = kEntry;
  return yaml.replace(yaml.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("a price list is read as it is written") {
  const auto prices = PriceFile(std::string(kEntry) + changed("null", "0.5")).load();
  REQUIRE(prices.size() == 2);
  CHECK(prices[0].gpu == "P100");
  CHECK(prices[0].on_demand == 1.5);
  CHECK_FALSE(prices[0].spot.has_value());
  CHECK_FALSE(prices[0].includes_host);
  CHECK(prices[0].date == "2000-01-01");
  CHECK(prices[1].spot == 0.5);
  CHECK(PriceFile("[]").load().empty());
}

TEST_CASE("a bad price list is refused with its line") {
  const std::pair<std::string, std::string> cases[] = {
      {"gpu: P100", "FILE:1: expected a list of prices, found a map"},
      {"", "FILE:1: expected a list of prices, found nothing"},
      {"- P100",
       "FILE:1: expected a price, a map of match, gpu, region, on_demand, spot, "
       "includes_host, source, date, found 'P100'"},
      {changed("1.5", "cheap"),
       "FILE:4: on_demand must be USD an hour, a number from 0 to 1e6, found 'cheap'"},
      {changed("1.5", "-1"),
       "FILE:4: on_demand must be USD an hour, a number from 0 to 1e6, "
       "found '-1'"},
      {changed("null", "[1]"),
       "FILE:5: spot must be USD an hour, a number from 0 to 1e6, or null, found a list"},
      {changed("false", "no"), "FILE:6: includes_host must be true or false, found 'no'"},
      {changed("gpu: P100", "gpu:"), "FILE:2: gpu must be text, found nothing"},
      {changed("region", "regoin"),
       "FILE:3: unknown key 'regoin' of a price, did you mean 'region'? (it has match, gpu, "
       "region, on_demand, spot, includes_host, source, date)"},
      {changed("region: here", "gpu: here"), "FILE:3: key 'gpu' stands twice; keep one of the two"},
      {changed("  source: me\n", ""),
       "FILE:1: the price has no source; each must have match, gpu, region, on_demand, spot, "
       "includes_host, source, date"},
      {"- {", "FILE:1: not valid YAML: end of map flow not found"},
  };
  for (const auto& [yaml, message] : cases) CHECK(PriceFile(yaml).refusal() == message);
}

TEST_CASE("the price list that comes with the program knows the devices by their names") {
  const auto prices = load_prices(ACGAN_CONFIG_DIR "/prices.yaml");
  const std::pair<const char*, const char*> devices[] = {
      {"Tesla P100-PCIE-16GB", "P100"},
      {"Tesla V100-SXM2-16GB", "V100"},
      {"Tesla T4", "T4"},
      {"NVIDIA L4", "L4"},
      {"NVIDIA A100-SXM4-40GB", "A100 40 GB"},
      {"NVIDIA A100 80GB PCIe", "A100 80 GB"},
      {"NVIDIA A100-SXM4-80GB", "A100 80 GB"},
      {"NVIDIA H100 80GB HBM3", "H100 80 GB"},
      {"NVIDIA H200", "H200"},
  };
  for (const auto& [device, gpu] : devices) {
    CAPTURE(device);
    const GpuPrice* const price = find_price(prices, device, "");
    REQUIRE(price != nullptr);
    CHECK(price->gpu == gpu);
    CHECK(price->spot < price->on_demand);
  }
  for (const char* const device : {"NVIDIA L40S", "NVIDIA T400", "AMD EPYC", "NVIDIA H100 PCIe"}) {
    CHECK(find_price(prices, device, "") == nullptr);
  }
}

TEST_CASE("a slice of a GPU has no price of the whole one") {
  GpuPrice whole;
  whole.match = "*A100*";
  const std::string slice = "NVIDIA A100-SXM4-40GB MIG 1g.5gb";
  CHECK(find_price({whole}, slice, "") == nullptr);
  CHECK(find_price({whole}, "NVIDIA A100-SXM4-40GB", "") != nullptr);
  GpuPrice part = whole;
  part.match = "*A100*MIG 1g*";
  const std::vector<GpuPrice> both{whole, part};
  CHECK(find_price(both, slice, "") == &both[1]);
}

}  // namespace acgan::test
