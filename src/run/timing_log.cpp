#include "run/timing_log.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/format.h"

namespace acgan {
namespace {

constexpr std::string_view kHeader =
    "step,images,elapsed_s,batch_ms,images_per_s,d_loss,g_loss,q_loss,loss_scale_d,loss_scale_g,"
    "loss_scale_q,skipped_d,skipped_g,skipped_q";

std::optional<std::int64_t> step_of_row(std::string_view row) {
  if (std::ranges::count(row, ',') != std::ranges::count(kHeader, ',')) return std::nullopt;
  const std::string_view first = row.substr(0, row.find(','));
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), step);
  if (error != std::errc{} || end != first.data() + first.size()) return std::nullopt;
  return step;
}

}  // namespace

TimingLog::TimingLog(const std::string& path, std::int64_t last_step)
    : log_(path, std::string(kHeader), last_step, step_of_row) {}

void TimingLog::add(const StepRecord& record) {
  log_.add(fmt::format("{},{},{:.6f},{:.4f},{:.1f},{},{},{},{},{}", record.step, record.images,
                       record.elapsed_seconds, record.batch_ms, record.images_per_second,
                       record.d_loss, record.g_loss, record.q_loss,
                       fmt::join(record.loss_scale, ","), fmt::join(record.skipped, ",")));
}

}  // namespace acgan
