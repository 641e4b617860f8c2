#include "bench/sweep.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <new>

#include "base/error.h"
#include "bench/lane.h"
#include "bench/machine.h"
#include "bench/median_interval.h"
#include "bench/speedup_reason.h"
#include "run/stats_log.h"
#include "train/batch_advice.h"
#include "train/progress_text.h"
#include "train/train_setup.h"

namespace acgan {
namespace {

// Share of skipped updates from which on times say little of training.
constexpr double kMostSkipped = 0.1;
// Mean over median from which on something else must have slowed the machine.
constexpr double kUnevenFrom = 1.2;

using Clock = std::chrono::steady_clock;
using Lanes = std::vector<std::unique_ptr<Lane>>;

// Long enough for the clock and the pipeline, short against drift.
constexpr double kBlockSeconds = 0.25;
constexpr double kMostStepsPerBlock = 256;
// From so many steps a block on one more costs little.
constexpr double kStepsWorthSettling = 8;
// A median from fewer rounds than this has not seen the machine change.
constexpr int kFewestRounds = 4;
constexpr double kLineIntervalSeconds = 10;

class Sweep {
 public:
  Sweep(Backend& backend, const BenchData& data, const SweepRequest& request, Log& log,
        const std::atomic<int>& signal_received)
      : backend_(backend), data_(data), request_(request), log_(log), signal_(signal_received) {}

  SweepResult run();

 private:
  Config config_of(std::int64_t batch, const PrecisionChoice& choice) const;
  std::vector<Config> configs_of(std::int64_t batch) const;
  std::vector<BenchRow> measure_batch(std::int64_t batch);
  std::vector<BenchRow> measure_apart(const std::vector<Config>& configs);
  std::vector<BenchRow> measure_together(const std::vector<Config>& configs);
  void warm_up(const Lanes& lanes);
  void measure(const Lanes& lanes);
  bool is_done(const Lane& lane, int rounds) const;
  BenchRow empty_row(const Config& config) const;
  BenchRow row_of(const Lane& lane) const;
  void report(const Lanes& lanes);
  bool is_line_due() const;
  void show(const std::string& line);
  void add_speedups(std::vector<BenchRow>& rows) const;

  Backend& backend_;
  const BenchData& data_;
  const SweepRequest& request_;
  Log& log_;
  const std::atomic<int>& signal_;
  double most_seconds_left_ = 0;  // of the batch sizes after this one
  Clock::time_point last_line_ = Clock::now();
};

Config Sweep::config_of(std::int64_t batch, const PrecisionChoice& choice) const {
  Config config = request_.config;
  config.train.batch = batch;
  config.precision.mode = choice.mode;
  config.precision.half = choice.half;
  return config;
}

// Without those that compute as an earlier one does (auto beside the type that it stands for).
std::vector<Config> Sweep::configs_of(std::int64_t batch) const {
  std::vector<Config> configs;
  std::vector<DType> seen;
  for (const PrecisionChoice& choice : request_.choices) {
    Config config = config_of(batch, choice);
    const DType compute = compute_type(config.precision, backend_);
    if (std::ranges::find(seen, compute) != seen.end()) continue;
    seen.push_back(compute);
    configs.push_back(std::move(config));
  }
  return configs;
}

SweepResult Sweep::run() {
  SweepResult result{.rows = {}, .ended = kDone};
  for (std::size_t i = 0; i < request_.batches.size() && signal_ == 0; ++i) {
    const std::int64_t batch = request_.batches[i];
    const auto batches_left = static_cast<double>(request_.batches.size() - i - 1);
    most_seconds_left_ =
        batches_left * static_cast<double>(configs_of(batch).size()) * request_.limits.max_seconds;
    for (BenchRow& row : measure_batch(batch)) result.rows.push_back(std::move(row));
  }
  if (signal_ != 0) result.ended = signal_name(signal_);
  add_speedups(result.rows);
  return result;
}

std::vector<BenchRow> Sweep::measure_batch(std::int64_t batch) {
  const std::vector<Config> configs = configs_of(batch);
  if (batch > data_.count()) {
    log_.info("batch {}: exceeds the data set, which has {} images", batch, data_.count());
    std::vector<BenchRow> rows;
    for (const Config& config : configs) {
      rows.push_back(empty_row(config));
      rows.back().ended_by = "exceeds the data set";
      rows.back().note = fmt::format("the data set has {} images", data_.count());
    }
    return rows;
  }
  try {
    return measure_together(configs);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Device) throw;
  } catch (const std::bad_alloc&) {
  }
  return measure_apart(configs);
}

// Not interleaved, but what fits alone has its figures.
std::vector<BenchRow> Sweep::measure_apart(const std::vector<Config>& configs) {
  std::vector<BenchRow> rows;
  for (const Config& config : configs) {
    if (signal_ != 0) break;
    BenchRow row = empty_row(config);
    row.ended_by = "does not fit";
    try {
      // Its refusal names a batch that fits.
      const DType compute = compute_type(config.precision, backend_);
      make_train_step(backend_, step_options(config, data_.dataset(), compute, 1));
      for (BenchRow& measured : measure_together({config})) {
        row = std::move(measured);
        if (configs.size() > 1) row.note = "measured alone: not all precisions fit side by side";
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Device) throw;
      row.note = error.what();
    } catch (const std::bad_alloc&) {
      row.note = "out of memory";
    }
    if (!row.is_measured() && signal_ == 0) {
      log_.info("batch {}, {}: does not fit: {}", row.batch, row.label(), row.note);
    }
    if (row.is_measured() || signal_ == 0) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<BenchRow> Sweep::measure_together(const std::vector<Config>& configs) {
  Lanes lanes;
  for (const Config& config : configs) {
    lanes.push_back(std::make_unique<Lane>(backend_, data_, config));
  }
  warm_up(lanes);
  measure(lanes);
  std::vector<BenchRow> rows;
  std::string line;
  for (const auto& lane : lanes) {
    if (lane->milliseconds().empty()) continue;  // a signal came first
    rows.push_back(row_of(*lane));
    const BenchRow& row = rows.back();
    line += fmt::format("{}{} {:.2f} ms (p10 {:.2f}, p90 {:.2f}, {} steps, {})",
                        line.empty() ? "" : "; ", row.label(), row.median_ms, row.p10_ms,
                        row.p90_ms, row.iterations, row.ended_by);
  }
  if (!rows.empty()) log_.info("batch {}: {}", rows.front().batch, line);
  return rows;
}

// All lanes run what is not captured before any of them captures: a backend's memory of its own
// must have its final size by then. Where steps are slow, the fewest have to do.
void Sweep::warm_up(const Lanes& lanes) {
  const Clock::time_point start = Clock::now();
  const std::int64_t wanted = std::max(request_.limits.warmup, kFewestWarmupSteps);
  for (std::int64_t step = 0; step < wanted; ++step) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const double most = request_.limits.max_seconds * static_cast<double>(lanes.size());
    if (step >= kFewestWarmupSteps && seconds >= most) return;
    for (const auto& lane : lanes) {
      if (signal_ != 0) return;
      lane->warm_up(1);
    }
    show(fmt::format("batch {}: warming up, step {} of {}", lanes.front()->config().train.batch,
                     step + 1, wanted));
  }
}

void Sweep::measure(const Lanes& lanes) {
  const auto all_done = [&](int rounds) {
    return std::ranges::all_of(lanes, [&](const auto& lane) { return is_done(*lane, rounds); });
  };
  for (int rounds = 0; signal_ == 0 && !all_done(rounds); ++rounds) {
    for (const auto& lane : lanes) {
      if (signal_ != 0) break;
      if (lane->seconds() >= request_.limits.max_seconds) continue;
      const double steps = std::round(kBlockSeconds / std::max(lane->step_seconds(), 1e-6));
      if (steps >= kStepsWorthSettling) lane->settle();
      lane->measure(static_cast<std::int64_t>(std::clamp(steps, 1.0, kMostStepsPerBlock)));
    }
    report(lanes);
  }
}

bool Sweep::is_done(const Lane& lane, int rounds) const {
  const SweepLimits& limits = request_.limits;
  if (lane.seconds() >= limits.max_seconds) return true;
  if (lane.seconds() < limits.min_seconds || rounds < kFewestRounds) return false;
  if (lane.milliseconds().size() < kFewestForInterval) return false;
  return median_interval(lane.milliseconds()).spread() <= limits.spread;
}

BenchRow Sweep::empty_row(const Config& config) const {
  const DType compute = compute_type(config.precision, backend_);
  BenchRow row;
  row.device = device_name(backend_);
  row.precision = compute == DType::F32 ? "fp32" : "mixed";
  if (compute != DType::F32) row.half = name_of(compute);
  row.conv = backend_.convolution_library(compute);
  row.tf32 = compute == DType::F32 && config.train.allow_tf32 && backend_.computes_in(DType::F16);
  row.batch = config.train.batch;
  return row;
}

BenchRow Sweep::row_of(const Lane& lane) const {
  BenchRow row = empty_row(lane.config());
  const MedianInterval interval = median_interval(lane.milliseconds());
  row.warmup = lane.warm_up_steps();
  row.iterations = static_cast<std::int64_t>(lane.milliseconds().size());
  row.median_ms = interval.median;
  row.mean_ms = 1e3 * lane.seconds() / static_cast<double>(row.iterations);
  row.median_low_ms = interval.low;
  row.median_high_ms = interval.high;
  row.p10_ms = quantile(lane.milliseconds(), 0.1);
  row.p90_ms = quantile(lane.milliseconds(), 0.9);
  if (row.median_ms > 0) {
    row.images_per_second = 1e3 * static_cast<double>(row.batch) / row.median_ms;
    row.seconds_per_1000 = 1e3 / row.images_per_second;
    row.gflops = lane.step().step_flops() / row.median_ms * 1e-6;
  }
  row.peak_mib = static_cast<double>(lane.bytes()) / (1024.0 * 1024.0);
  row.skipped = lane.skipped();
  const bool is_settled = lane.milliseconds().size() >= kFewestForInterval &&
                          interval.spread() <= request_.limits.spread;
  row.ended_by = signal_ != 0 ? signal_name(signal_) : is_settled ? "spread" : "time";
  // An update that is left out takes less time than one that is made.
  const double updates =
      static_cast<double>(row.iterations) * static_cast<double>(lane.step().optimizers().size());
  row.skips_distort = static_cast<double>(row.skipped) > kMostSkipped * updates;
  row.diverged = lane.is_diverging();
  if (row.diverged) {
    row.note = "the training went non-finite: its updates were left out";
  } else if (row.skipped > 0) {
    row.note = fmt::format("{} of {:.0f} updates were skipped, since gradients were Inf or NaN",
                           row.skipped, updates);
  } else if (row.mean_ms > kUnevenFrom * row.median_ms) {
    row.note = fmt::format(
        "steps took {:.2f} ms in the mean, {:.1f} times the median: something else was slowing the "
        "machine; costs count the mean",
        row.mean_ms, row.mean_ms / row.median_ms);
  }
  return row;
}

void Sweep::report(const Lanes& lanes) {
  if (!log_.is_live() && !is_line_due()) return;
  double left = most_seconds_left_;
  std::string line = fmt::format("batch {}:", lanes.front()->config().train.batch);
  for (const auto& lane : lanes) {
    left += std::max(0.0, request_.limits.max_seconds - lane->seconds());
    const MedianInterval interval = median_interval(lane->milliseconds());
    line += fmt::format("  {} {:.2f} ms +-{:.1f}%", empty_row(lane->config()).label(),
                        interval.median, 100 * interval.spread());
  }
  show(fmt::format("{}  at most {} to go", line, duration_text(left)));
}

bool Sweep::is_line_due() const {
  return std::chrono::duration<double>(Clock::now() - last_line_).count() >= kLineIntervalSeconds;
}

// The live line on a terminal, a plain one at intervals elsewhere.
void Sweep::show(const std::string& line) {
  log_.progress(line);
  if (log_.is_live() || !is_line_due()) return;
  last_line_ = Clock::now();
  log_.info("{}", line);
}

void Sweep::add_speedups(std::vector<BenchRow>& rows) const {
  double best_gflops = 0;
  for (const BenchRow& row : rows) best_gflops = std::max(best_gflops, row.gflops);
  for (BenchRow& row : rows) {
    const auto fp32 = std::ranges::find_if(rows, [&](const BenchRow& other) {
      return other.batch == row.batch && other.half.empty() && other.is_measured();
    });
    if (!row.is_measured() || fp32 == rows.end() || row.skips_distort || fp32->skips_distort) {
      continue;
    }
    row.speedup_vs_fp32 = fp32->median_ms / row.median_ms;
    if (row.half.empty() || !row.note.empty()) continue;
    row.note = speedup_reason(
        row, *fp32,
        {.computes_in_half = backend_.computes_in(row.half == "bf16" ? DType::BF16 : DType::F16),
         .computes_in_bf16 = backend_.computes_in(DType::BF16),
         .widths = request_.config.model,
         .best_gflops = best_gflops});
  }
}

}  // namespace

SweepResult run_sweep(Backend& backend, const BenchData& data, const SweepRequest& request,
                      Log& log, const std::atomic<int>& signal_received) {
  return Sweep(backend, data, request, log, signal_received).run();
}

}  // namespace acgan
