#include "train/progress_text.h"

#include <csignal>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/format.h"
#include "base/printable.h"

namespace acgan {

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(0.0, seconds));
  const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
  if (hours > 0) return fmt::format("{}h {:02}m {:02}s", hours, minutes, rest);
  if (minutes > 0) return fmt::format("{}m {:02}s", minutes, rest);
  return fmt::format("{}s", rest);
}

std::string bytes_text(std::size_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
}

std::string signal_name(int signal) {
  return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

std::string progress_line(const StepRecord& record, const TrainConfig& train) {
  const double by_steps =
      train.steps > 0 ? static_cast<double>(record.step) / static_cast<double>(train.steps) : 0;
  const double by_time = train.minutes > 0 ? record.elapsed_seconds / (60 * train.minutes) : 0;
  const double share = std::min(1.0, std::max(by_steps, by_time));
  const double left = share > 0 ? record.elapsed_seconds * (1 - share) / share : 0;
  std::string line = fmt::format(
      "step {}  {:.0f}%  elapsed {}  eta {}  d {:.3f}  g {:.3f}  q {:.3f}  accuracy real {:.0f}% "
      "fake {:.0f}%  {:.1f} images/s",
      record.step, 100 * share, duration_text(record.elapsed_seconds), duration_text(left),
      record.d_loss, record.g_loss, record.q_loss, 100 * record.accuracy_real,
      100 * record.accuracy_fake, record.images_per_second);
  const bool scaled = std::any_of(record.loss_scale.begin(), record.loss_scale.end(),
                                  [](float scale) { return scale > 1; });
  const std::int64_t skipped = record.skipped[0] + record.skipped[1] + record.skipped[2];
  if (scaled || skipped > 0) {
    line += fmt::format("  scales {}  skipped {}", fmt::join(record.loss_scale, "/"),
                        fmt::join(record.skipped, "/"));
  }
  return line;
}

std::string class_table(const Dataset& dataset) {
  const std::vector<std::int64_t> counts = dataset.counts_by_class();
  std::string table = counted(counts.size(), "class", "classes") + ": ";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    table += fmt::format("{}{} {}", i == 0 ? "" : ", ", dataset.class_names[i], counts[i]);
  }
  return printable(table);
}

std::string count_text(std::int64_t count) {
  const auto number = static_cast<double>(count);
  if (count < 1000) return fmt::format("{}", count);
  return count < 1'000'000 ? fmt::format("{:.1f} k", 1e-3 * number)
                           : fmt::format("{:.2f} M", 1e-6 * number);
}

std::string flops_text(double flops) {
  return flops < 1e9 ? fmt::format("{:.2f} MFLOP", 1e-6 * flops)
                     : fmt::format("{:.2f} GFLOP", 1e-9 * flops);
}

std::string model_text(const TrainStep& step) {
  const Acgan& model = step.model();
  const std::int64_t generator = model.generator.parameters().parameter_count();
  const std::int64_t discriminator =
      model.trunk.parameters().parameter_count() + model.source_head.parameters().parameter_count();
  const std::int64_t classifier = model.classifier.parameters().parameter_count();
  return fmt::format(
      "{} parameters (generator {}, discriminator {}, classifier {}), batch {}, {} a step",
      count_text(generator + discriminator + classifier), count_text(generator),
      count_text(discriminator), count_text(classifier), step.options().batch,
      flops_text(step.step_flops()));
}

std::string memory_text(const std::vector<MemoryShare>& shares, const Dataset& dataset) {
  const std::size_t data = dataset.images.size() + 4 * dataset.labels.size();
  std::size_t total = data;
  std::string parts;
  for (const MemoryShare& share : shares) {
    total += share.bytes;
    parts += fmt::format("{} {}, ", share.purpose, bytes_text(share.bytes));
  }
  return fmt::format("{} ({}data set {})", bytes_text(total), parts, bytes_text(data));
}

}  // namespace acgan
