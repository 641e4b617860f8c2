#include "train/memory_plan.h"

#include "backend/blank_backend.h"
#include "base/format.h"
#include "train/progress_text.h"

namespace acgan {
namespace {

std::string line(const std::string& purpose, std::size_t fp32, std::size_t mixed) {
  return fmt::format("\n  {:<22}{:>12}{:>12}", purpose, bytes_text(fp32), bytes_text(mixed));
}

}  // namespace

std::vector<MemoryShare> plan_memory(const TrainStepOptions& options) {
  BlankBackend backend;
  return TrainStep(backend, options).memory();
}

std::size_t total_bytes(const std::vector<MemoryShare>& shares) {
  std::size_t bytes = 0;
  for (const MemoryShare& share : shares) bytes += share.bytes;
  return bytes;
}

std::string memory_plan_text(const TrainStepOptions& options, DType half) {
  TrainStepOptions single = options, mixed = options;
  single.compute = DType::F32;
  mixed.compute = half;
  const std::vector<MemoryShare> in_single = plan_memory(single), in_mixed = plan_memory(mixed);
  std::string text = fmt::format("at batch {}:\n  {:<22}{:>12}{:>12}", options.batch, "", "fp32",
                                 fmt::format("mixed {}", name_of(half)));
  for (std::size_t i = 0; i < in_single.size(); ++i) {
    if (in_single[i].bytes == 0) continue;
    text += line(in_single[i].purpose, in_single[i].bytes, in_mixed[i].bytes);
  }
  text += line("peak in use", total_bytes(in_single), total_bytes(in_mixed));
  return text +
         fmt::format(
             "\n  mixed takes {:.0f} % of what fp32 takes; the data set and the workspace of "
             "operations come on top",
             100.0 * static_cast<double>(total_bytes(in_mixed)) /
                 static_cast<double>(total_bytes(in_single)));
}

}  // namespace acgan
