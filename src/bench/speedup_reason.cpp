#include "bench/speedup_reason.h"

#include <utility>
#include <vector>

#include "base/format.h"

namespace acgan {
namespace {

// From here on nobody asks why.
constexpr double kClearGain = 1.1;
// Of the best rate seen; below it the device waits for work.
constexpr double kBusyShare = 0.6;
// Tensor cores and vector units take 16-bit channels by eights.
constexpr std::int64_t kChannelsTogether = 8;

constexpr const char* kNoise = "no difference beyond the noise";

std::string uneven_widths(const ModelConfig& widths) {
  std::vector<std::pair<const char*, std::int64_t>> all{{"dense_width", widths.dense_width},
                                                        {"conv1_width", widths.conv1_width},
                                                        {"conv2_width", widths.conv2_width}};
  if (widths.preset == ModelPreset::Resnet32) {
    all = {{"generator_width", widths.generator_width},
           {"discriminator_width", widths.discriminator_width}};
  }
  all.emplace_back("classifier_width", widths.classifier_width);
  std::string list;
  for (const auto& [name, width] : all) {
    if (width % kChannelsTogether == 0) continue;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name, width);
  }
  return list;
}

bool is_within_noise(const BenchRow& mixed, const BenchRow& fp32) {
  return mixed.median_low_ms <= fp32.median_high_ms && fp32.median_low_ms <= mixed.median_high_ms;
}

}  // namespace

std::string speedup_reason(const BenchRow& mixed, const BenchRow& fp32, const SpeedupFacts& facts) {
  const bool is_noise = is_within_noise(mixed, fp32);
  const bool is_gain = fp32.median_ms >= kClearGain * mixed.median_ms;
  if (is_noise && is_gain) return kNoise;
  if (is_gain) return "";
  std::vector<std::string> reasons;
  if (is_noise) reasons.emplace_back(kNoise);
  if (!facts.computes_in_half) {
    reasons.push_back(fmt::format(
        "no 16-bit units for {0} on this device: {0} is storage only{1}", mixed.half,
        facts.computes_in_bf16 && mixed.half != "bf16" ? " (--half bf16 is computed here)" : ""));
  } else if (fp32.tf32) {
    reasons.emplace_back("fp32 is computed in TF32, on tensor cores as well");
  }
  if (fp32.gflops < kBusyShare * facts.best_gflops) {
    reasons.push_back(
        fmt::format("batch too small to keep the device busy: {:.0f} of {:.0f} "
                    "GFLOP/s",
                    fp32.gflops, facts.best_gflops));
  }
  if (const std::string widths = uneven_widths(facts.widths); !widths.empty()) {
    reasons.push_back("channels not in multiples of eight: " + widths);
  }
  if (reasons.empty())
    reasons.emplace_back("no reason known; bench --profile shows the operations");
  return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace acgan
