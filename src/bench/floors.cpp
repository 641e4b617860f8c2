#include "bench/floors.h"

#include <algorithm>

#include "base/format.h"
#include "bench/text_table.h"

namespace acgan {
namespace {

constexpr double kMega = 1e6, kMebibyte = 1024.0 * 1024.0;

std::string floor_text(const FloorTime& floor) {
  return fmt::format("{:.2f} {}", 1e6 * floor.seconds, floor.by_compute ? 'c' : 'm');
}

std::vector<std::string> heading_for(const std::vector<Peak>& peaks) {
  std::vector<std::string> heading{"layer", "operation", "shape", "calls", "MFLOP", "MiB"};
  for (const Peak& peak : peaks) heading.push_back(peak.name + " us");
  return heading;
}

}  // namespace

FloorTime floor_time(const OperationTotals& operation, DType compute, const Peak& peak) {
  const bool in_fp32 = compute == DType::F32 || (compute == DType::BF16 && !peak.has_bf16);
  const double tflops = in_fp32 ? peak.tflops_fp32 : peak.tflops_half;
  const double arithmetic = operation.flops / (tflops * 1e12);
  const double memory = operation.bytes / (peak.gbs * 1e9);
  return {.seconds = std::max(arithmetic, memory), .by_compute = arithmetic > memory};
}

std::string floors_table(const std::vector<OperationTotals>& operations, DType compute,
                         const std::vector<Peak>& peaks) {
  TextTable table(heading_for(peaks), 3);
  OperationTotals sum;
  std::vector<double> seconds(peaks.size(), 0.0);
  for (const OperationTotals& operation : operations) {
    if (operation.flops <= 0 && operation.bytes <= 0) continue;  // a few bytes of state
    std::vector<std::string> cells{
        operation.layer.empty() ? "-" : operation.layer,
        operation.operation,
        fmt::format("{} {}", name_of(operation.dtype), operation.shape.text()),
        fmt::format("{}", operation.calls),
        fmt::format("{:.1f}", operation.flops / kMega),
        fmt::format("{:.2f}", operation.bytes / kMebibyte)};
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      const FloorTime floor = floor_time(operation, compute, peaks[i]);
      seconds[i] += floor.seconds;
      cells.push_back(floor_text(floor));
    }
    sum.calls += operation.calls;
    sum.flops += operation.flops;
    sum.bytes += operation.bytes;
    table.add(std::move(cells));
  }
  std::vector<std::string> last{"step",
                                "",
                                "",
                                fmt::format("{}", sum.calls),
                                fmt::format("{:.1f}", sum.flops / kMega),
                                fmt::format("{:.2f}", sum.bytes / kMebibyte)};
  for (const double value : seconds) last.push_back(fmt::format("{:.2f}  ", 1e6 * value));
  table.add(std::move(last));
  return table.text();
}

}  // namespace acgan
