#include <catch2/catch.hpp>
#include <numeric>

#include "backend/open_backend.h"
#include "bench/bench_fixture.h"
#include "bench/floors.h"
#include "bench/step_operations.h"
#include "train/train_setup.h"

namespace acgan::test {

namespace {

TrainStepOptions options_of(const SweepRequest& sweep, DType compute) {
  return step_options(sweep.config, load_dataset(sweep.config.data, 1), compute, 1);
}

template <typename Value>
double sum_of(const std::vector<OperationTotals>& operations, Value OperationTotals::*member) {
  double sum = 0;
  for (const OperationTotals& operation : operations) {
    sum += static_cast<double>(operation.*member);
  }
  return sum;
}

}  // namespace

TEST_CASE("the operations' FLOPs add up to those of the step") {
  SweepRequest sweep = small_sweep();
  sweep.config.train.objective = GENERATE(Objective::Dgq, Objective::Joint);
  sweep.config.data.image_size = GENERATE(8, 28);
  sweep.config.train.batch = GENERATE(2, 300);
  const DType compute = GENERATE(DType::F32, DType::F16);
  const TrainStepOptions options = options_of(sweep, compute);
  const auto host = open_backend("host", 1);
  TrainStepOptions two = options;  // a step of the true size would need its memory
  two.batch = 2;
  const double expected =
      TrainStep(*host, two).step_flops() * static_cast<double>(options.batch) / 2;
  CHECK(sum_of(step_operations(options), &OperationTotals::flops) == Approx(expected));
}

TEST_CASE("a step without a device asks for what a real one does") {
  const SweepRequest sweep = small_sweep();
  Config config = sweep.config;
  config.train.batch = 4;
  config.precision.mode = PrecisionMode::Mixed;
  ProfilingBackend real(open_backend("packed", 1));
  const BenchData data(real, load_dataset(config.data, 1));
  TrainStep step(real, step_options(config, data.dataset(), DType::F16, 1));
  step.model().initialize(1);
  name_layers(real, step);
  real.reset();
  step.load_batch(data.images(), data.labels(), std::vector<std::int32_t>{0, 1, 2, 3});
  step.run();
  const auto expected = real.operations();
  const auto found = step_operations(step.options());
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i, found[i].operation, expected[i].operation, found[i].layer);
    CHECK(found[i].operation == expected[i].operation);
    CHECK(found[i].layer == expected[i].layer);
    CHECK(found[i].shape == expected[i].shape);
    CHECK(found[i].calls == expected[i].calls);
    CHECK(found[i].flops == expected[i].flops);
    CHECK(found[i].bytes == expected[i].bytes);
  }
}

TEST_CASE("every operation with weights knows its layer, and 16 bits move fewer bytes") {
  SweepRequest sweep = small_sweep();
  sweep.config.train.batch = 4096;
  const auto full = step_operations(options_of(sweep, DType::F32));
  const auto half = step_operations(options_of(sweep, DType::F16));
  CHECK(sum_of(half, &OperationTotals::bytes) < 0.7 * sum_of(full, &OperationTotals::bytes));
  bool found_conv1 = false, found_adam = false;
  for (const OperationTotals& operation : half) {
    CAPTURE(operation.operation);
    if (operation.flops > 0) CHECK_FALSE(operation.layer.empty());
    if (operation.operation.starts_with("activation") ||
        operation.operation.starts_with("sigmoid") ||
        operation.operation.starts_with("batch_norm")) {
      CHECK_FALSE(operation.layer.empty());
    }
    if (operation.layer == "discriminator.conv1" && operation.operation == "conv2d_forward") {
      found_conv1 = true;
      CHECK(operation.calls == 2);  // once in each half
      CHECK(operation.shape == (Shape{8192, 4, 4, 8}));
      CHECK(operation.flops == 2 * 2.0 * 8192 * 4 * 4 * 8 * 16);
    }
    if (operation.layer == "generator" && operation.operation == "adam_step x2") found_adam = true;
  }
  CHECK(found_conv1);
  CHECK(found_adam);
}

TEST_CASE("a floor is the larger of arithmetic and memory time") {
  OperationTotals operation;
  operation.flops = 2e12;
  operation.bytes = 1e9;
  const Peak peak{.name = "x", .tflops_half = 10, .tflops_fp32 = 1, .gbs = 1};
  CHECK(floor_time(operation, DType::F16, peak).seconds == Approx(1));
  CHECK_FALSE(floor_time(operation, DType::F16, peak).by_compute);
  CHECK(floor_time(operation, DType::F32, peak).seconds == Approx(2));
  CHECK(floor_time(operation, DType::F32, peak).by_compute);
  operation.calls = 3;
  operation.operation = "conv2d_forward";
  const std::string table = floors_table({operation}, DType::F32, {peak});
  CHECK_THAT(table, Catch::Contains("2000000.00 c") && Catch::Contains("\nstep"));
}

TEST_CASE("the presets are plausible") {
  for (const Peak& peak : known_peaks()) {
    CAPTURE(peak.name);
    CHECK(peak.tflops_half > peak.tflops_fp32);
    CHECK(peak.gbs >= 300);
  }
}

TEST_CASE("bf16 has the peak of fp32 on a GPU without it") {
  OperationTotals operation;
  operation.flops = 1e12;
  const Peak older{
      .name = "old", .tflops_half = 100, .tflops_fp32 = 10, .gbs = 1, .has_bf16 = false};
  CHECK(floor_time(operation, DType::F16, older).seconds == Approx(0.01));
  CHECK(floor_time(operation, DType::BF16, older).seconds == Approx(0.1));
  Peak newer = older;
  newer.has_bf16 = true;
  CHECK(floor_time(operation, DType::BF16, newer).seconds == Approx(0.01));
}

}  // namespace acgan::test
