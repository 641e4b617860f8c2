#include <algorithm>
#include <utility>
#include <vector>

#include "backend/profiling_backend.h"
#include "base/format.h"

namespace acgan {
namespace {

// Per second, in units of 10^9; a dash where nothing was counted.
std::string rate(double amount, double seconds) {
  if (amount <= 0.0 || seconds <= 0.0) return "-";
  return fmt::format("{:.1f}", amount / seconds * 1e-9);
}

}  // namespace

std::string ProfilingBackend::report() const {
  std::vector<std::pair<std::string, OperationTotals>> lines;
  double all_seconds = 0.0;
  std::size_t width = 9;  // "operation"
  for (const OperationTotals& totals : totals_) {
    std::string label =
        fmt::format("{} {} {}", totals.operation, name_of(totals.dtype), totals.shape.text());
    if (!totals.layer.empty()) label += " " + totals.layer;
    all_seconds += totals.seconds;
    width = std::max(width, label.size());
    lines.emplace_back(std::move(label), totals);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.second.seconds > b.second.seconds;
  });
  std::string text = fmt::format("{:<{}} {:>8} {:>10} {:>6} {:>8} {:>7}\n", "operation", width,
                                 "calls", "ms", "share", "GFLOP/s", "GB/s");
  for (const auto& [label, totals] : lines) {
    const double share = all_seconds > 0.0 ? 100.0 * totals.seconds / all_seconds : 0.0;
    text += fmt::format("{:<{}} {:>8} {:>10.3f} {:>5.1f}% {:>8} {:>7}\n", label, width,
                        totals.calls, 1e3 * totals.seconds, share,
                        rate(totals.flops, totals.seconds), rate(totals.bytes, totals.seconds));
  }
  return text;
}

}  // namespace acgan
