#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace acgan {

// A stretch of consecutive steps in timing.csv.
struct TimingPoint {
  double minutes = 0;                  // training time at its last step
  std::array<double, 3> loss{};        // D, G, Q: means over its steps; NaN where none was finite
  double images_per_second = 0;        // by time
  std::array<double, 3> loss_scale{};  // D, G, Q: after its last step
};

// The whole of a timing.csv in at most `most` (an even number) stretches of equally many steps, but
// for the last. Lines that are no whole row are passed over. Empty where there is no such file.
std::vector<TimingPoint> read_timing(const std::string& path, std::size_t most);

// The figures of one line of metrics.jsonl.
struct QualityPoint {
  std::int64_t step = 0;
  double minutes = 0;
  std::string net;  // feature net and scale: only points with the same can be compared
  std::map<std::string, double> figures;        // "frechet", "precision", ...: all that are numbers
  std::map<std::string, double> floor_figures;  // the same of real images
};

// In the order of their steps. Lines without step and time (judgements of others' images), and what
// is no JSON, are passed over. Empty where there is no such file, or it is larger than 64 MiB.
std::vector<QualityPoint> read_quality(const std::string& path);

}  // namespace acgan
