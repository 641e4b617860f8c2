#include <catch2/catch.hpp>

#include "bench/profile.h"

namespace acgan::test {

namespace {

OperationTotals operation_of(const std::string& operation, const std::string& layer,
                             double seconds) {
  OperationTotals totals;
  totals.operation = operation;
  totals.layer = layer;
  totals.shape = {4, 8};
  totals.calls = 2;
  totals.seconds = seconds;
  totals.flops = 1e9;
  totals.bytes = 2e9;
  return totals;
}

}  // namespace

TEST_CASE("a profile puts the same operation of all lanes on one line, the dearest first") {
  const std::vector<LaneProfile> lanes{
      {.label = "fp32",
       .steps = 2,
       .operations = {operation_of("batch_norm_forward", "d.norm", 0.5),
                      operation_of("dense_forward", "d.dense", 1.5)},
       .phases = {{{0.5, 0, 0}, {1.0, 4e9, 0}, {0.5, 0, 0}, {0, 0, 0}}},
       .step_seconds = 1.25,
       .sampling_share = 0.02,
       .logging_seconds = 0.001},
      {.label = "mixed fp16",
       .steps = 1,
       .operations = {operation_of("dense_forward", "d.dense", 0.25),
                      operation_of("cast", "", 0.25)},
       .phases = {{{0.25, 0, 0}, {0.25, 4e9, 0}, {0, 0, 0}, {0, 0, 0}}},
       .step_seconds = 0.5,
       .sampling_share = 0,
       .logging_seconds = 0.001}};
  const std::string table = profile_table(lanes);
  const auto dense = table.find("d.dense  dense_forward");
  const auto norm = table.find("d.norm");
  REQUIRE(dense != std::string::npos);
  CHECK(dense < norm);
  const std::string line = table.substr(dense, table.find('\n', dense) - dense);
  CHECK_THAT(line, Catch::Contains("750.000") && Catch::Contains("75.0%") &&
                       Catch::Contains("250.000") && Catch::Contains("50.0%") &&
                       Catch::EndsWith("3.00x"));
  CHECK_THAT(table, Catch::Contains("dense layers") && Catch::Contains("other"));
  const auto phase = [&](const std::string& name) {
    const auto begin = table.find("\n" + name + " ", table.find("phase"));
    REQUIRE(begin != std::string::npos);
    return table.substr(begin + 1, table.find('\n', begin + 1) - begin - 1);
  };
  CHECK_THAT(phase("D"), Catch::Contains("500.000") && Catch::Contains("4.0") &&
                             Catch::Contains("16.0") && Catch::EndsWith("2.00x"));
  CHECK_THAT(phase("between operations"), Catch::Contains("250.000"));
  CHECK_THAT(phase("sampling"), Catch::Contains("25.000"));
  CHECK_THAT(phase("logging"), Catch::Contains("1.000"));
  CHECK_THAT(phase("step"), Catch::Contains("1276.000"));
}

}  // namespace acgan::test
