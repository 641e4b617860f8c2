#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace acgan {

// What was paid for, where a price is known; USD.
struct BenchCost {
  double price_per_hour = 0;
  double per_1000_images = 0;
  double per_million_images = 0;
  double per_million_batches = 0;
};

// What a given time of training gives, with --for-minutes.
struct TimedTraining {
  double minutes = 0;
  double batches = 0, images = 0;
  std::optional<double> cost;  // USD
};

// One line of the result: a device, precision, 16-bit type and batch size.
struct BenchRow {
  std::string device;     // the GPU's or the processor's name
  std::string precision;  // fp32, mixed
  std::string half;       // fp16, bf16; empty for fp32
  bool tf32 = false;
  std::string conv;  // who computes convolutions: handwritten, cudnn, onednn
  std::int64_t batch = 0;
  std::int64_t warmup = 0, iterations = 0;  // steps before, and in the figures
  double median_ms = 0, p10_ms = 0, p90_ms = 0;
  double mean_ms = 0;  // what time and money are counted by: a slow step costs, too
  double median_low_ms = 0, median_high_ms = 0;  // the median's 95 % interval
  double images_per_second = 0, seconds_per_1000 = 0;
  double gflops = 0;
  double peak_mib = 0;         // of networks, passes, optimisers and data set
  std::int64_t skipped = 0;    // updates of an optimiser, within the figures
  bool diverged = false;       // too many of them one after the other
  bool skips_distort = false;  // so many of them that the times say little of training
  std::optional<double> speedup_vs_fp32;
  std::optional<BenchCost> cost;
  std::optional<TimedTraining> timed;
  std::string ended_by;  // spread, time, a signal, or why there are no figures
  std::string note;      // in words: what went wrong, or why there is no gain

  bool is_measured() const { return iterations > 0; }
  std::string label() const { return half.empty() ? precision : precision + " " + half; }
};

}  // namespace acgan
