#include "bench/bench.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "backend/open_backend.h"
#include "base/error.h"
#include "bench/bench_files.h"
#include "bench/bench_table.h"
#include "bench/floors.h"
#include "bench/lane.h"
#include "bench/profile.h"
#include "bench/step_operations.h"
#include "config/load_config.h"
#include "train/progress_text.h"
#include "train/train_setup.h"

namespace acgan {
namespace {

constexpr int kSignalExit = 128;  // + the signal's number
constexpr std::int64_t kFewestProfiledSteps = 3;

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof("2000-01-01T00:00:00Z")];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// For steps of every precision.
OpenedBackend open_device(Config config, Log& log) {
  config.precision.mode = PrecisionMode::Fp32;
  OpenedBackend opened = open_backend(backend_request(config));
  check_gpu_settings(config, opened, log);
  return opened;
}

void log_start(const OpenedBackend& opened, const BenchData& data, Log& log) {
  log.info("device: {}", opened.backend->description());
  if (!opened.why_not_cuda.empty()) {
    log.info("device: auto took the CPU: {}", opened.why_not_cuda);
  }
  const Dataset& dataset = data.dataset();
  log.info("data: {}; {} images {}x{}x{}", dataset.description, dataset.count(), dataset.height,
           dataset.width, dataset.channels);
}

void log_plan(const SweepRequest& sweep, Log& log) {
  const double most =
      static_cast<double>(sweep.batches.size() * sweep.choices.size()) * sweep.limits.max_seconds;
  log.info(
      "measuring: batch {}; each row until its median is known to +-{:g}%, from {:g} to {:g} "
      "s; at most {} beside the warm-up",
      fmt::join(sweep.batches, ", "), 100 * sweep.limits.spread, sweep.limits.min_seconds,
      sweep.limits.max_seconds, duration_text(most));
}

// Where nothing fits there is nothing to show.
void check_any_measured(const SweepResult& result) {
  const auto is_measured = [](const BenchRow& row) { return row.is_measured(); };
  if (result.ended != kDone || result.rows.empty()) return;
  if (std::ranges::any_of(result.rows, is_measured)) return;
  const BenchRow& row = result.rows.front();
  const bool is_data = row.ended_by == "exceeds the data set";
  fail(is_data ? ErrorKind::Data : ErrorKind::Device,
       "no batch size could be measured; batch {}: {}: {}", row.batch, row.ended_by, row.note);
}

void measure_sweep(const BenchRequest& request, Log& log, const std::atomic<int>& signal_received) {
  check_bench_folder(request.outdir);
  const std::vector<GpuPrice> prices = price_list_for(request.price);
  const Config& config = request.sweep.config;
  BenchContext context{.program = request.program,
                       .command = request.command,
                       .config_name = config.name,
                       .config = dump_config(config),
                       .data = {},
                       .began = utc_now(),
                       .machine = {},
                       .limits = request.sweep.limits,
                       .price = {}};
  const OpenedBackend opened = open_device(config, log);
  const BenchData data(*opened.backend, load_dataset(config.data, config.train.seed.value_or(1)));
  context.machine = describe_machine(*opened.backend);
  context.data = data.dataset().description;
  log_start(opened, data, log);
  const PriceFinding price = find_price_for(request.price, prices, context.machine.device);
  if (price.per_hour) context.price = price.origin;
  log.info("price: {}", price.origin);
  log_plan(request.sweep, log);

  SweepResult result = run_sweep(*opened.backend, data, request.sweep, log, signal_received);
  check_any_measured(result);
  add_costs(result.rows, price.per_hour, request.price.minutes);
  if (result.rows.empty()) {
    log.info("{}: nothing was measured, nothing is written", result.ended);
  } else {
    log.info("{}", bench_table(result.rows, request.sweep.limits));
    write_bench_files(request.outdir, result, context);
    log.info("written: {0}/bench.csv, {0}/bench.json", request.outdir);
  }
}

std::string precision_label(DType compute) {
  return compute == DType::F32 ? "fp32" : fmt::format("mixed {}", name_of(compute));
}

// Without a device there is no automatic 16-bit type but the GPU's.
DType compute_without_device(const PrecisionChoice& choice) {
  if (choice.mode == PrecisionMode::Fp32) return DType::F32;
  return choice.half == HalfType::Bf16 ? DType::BF16 : DType::F16;
}

void print_floors(const BenchRequest& request, Log& log) {
  Config config = request.sweep.config;
  const Dataset dataset = load_dataset(config.data, config.train.seed.value_or(1));
  for (const std::int64_t batch : request.sweep.batches) {
    config.train.batch = batch;
    for (const PrecisionChoice& choice : request.sweep.choices) {
      const DType compute = compute_without_device(choice);
      const auto operations = step_operations(step_options(config, dataset, compute, 1));
      log.info("batch {}, {}\n{}", batch, precision_label(compute),
               floors_table(operations, compute, request.peaks));
    }
  }
  for (const Peak& peak : request.peaks) {
    log.info("{}: {:g} TFLOP/s in 16 bits, {:g} in fp32, {:g} GB/s", peak.name, peak.tflops_half,
             peak.tflops_fp32, peak.gbs);
  }
  log.info(
      "us: microseconds in a step at least, bound by c, computing, or m, memory; MFLOP: of "
      "convolutions and dense layers; MiB: every array of a call once, and twice what is added to");
}

// A lane with a backend of its own, whose operations are measured apart from the other lanes'.
struct ProfiledLane {
  ProfiledLane(const Config& config, const SweepLimits& limits, Log& log)
      : profile(open_device(config, log).backend),
        data(profile, load_dataset(config.data, config.train.seed.value_or(1))),
        lane((check_dataset(data.dataset(), config.train.batch), profile), data, config) {
    name_layers(profile, lane.step());
    lane.warm_up(std::max(limits.warmup, kFewestWarmupSteps));
    profile.reset();
  }

  ProfilingBackend profile;
  BenchData data;
  Lane lane;
};

// Step by step in turn, so that drift favours none.
std::vector<LaneProfile> profile_batch(const BenchRequest& request, std::int64_t batch, Log& log,
                                       const std::atomic<int>& signal_received) {
  const SweepLimits& limits = request.sweep.limits;
  Config config = request.sweep.config;
  config.train.batch = batch;
  std::vector<std::unique_ptr<ProfiledLane>> lanes;
  for (const PrecisionChoice& choice : request.sweep.choices) {
    config.precision.mode = choice.mode;
    config.precision.half = choice.half;
    lanes.push_back(std::make_unique<ProfiledLane>(config, limits, log));
  }
  std::int64_t steps = 0;
  const auto is_short = [&](const auto& lane) { return lane->lane.seconds() < limits.min_seconds; };
  while (signal_received == 0 &&
         (steps < kFewestProfiledSteps || std::ranges::any_of(lanes, is_short))) {
    for (const auto& lane : lanes) lane->lane.measure(1);
    ++steps;
  }
  std::vector<LaneProfile> profiles;
  for (const auto& lane : lanes) {
    const DType compute = lane->lane.compute();
    profiles.push_back({.label = precision_label(compute),
                        .steps = steps,
                        .operations = lane->profile.operations()});
  }
  return profiles;
}

void print_profiles(const BenchRequest& request, Log& log,
                    const std::atomic<int>& signal_received) {
  log.info("device: {}", open_device(request.sweep.config, log).backend->description());
  for (const std::int64_t batch : request.sweep.batches) {
    const auto profiles = profile_batch(request, batch, log, signal_received);
    if (signal_received != 0) return;
    log.info("batch {}, of a step (mean of {})\n{}", batch, profiles.front().steps,
             profile_table(profiles));
  }
  log.info(
      "waiting after each operation costs overlap: shares hold, the sum is an upper bound; faster: "
      "than in the first precision");
}

}  // namespace

int run_bench(const BenchRequest& request, Log& log, const std::atomic<int>& signal_received) {
  switch (request.mode) {
    case BenchMode::Sweep:
      measure_sweep(request, log, signal_received);
      break;
    case BenchMode::Floors:
      print_floors(request, log);
      break;
    case BenchMode::Profile:
      print_profiles(request, log, signal_received);
      break;
  }
  return signal_received == 0 ? 0 : kSignalExit + signal_received;
}

}  // namespace acgan
