#include "run/stats_log.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/atomic_file.h"
#include "base/check.h"

namespace acgan {
namespace {

// Members stay in the order they were added in.
using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 3> kOptimizers = {"d", "g", "q"};

// An object under construction that holds what strict JSON can: a number that is not finite becomes
// null and is named in "nonfinite".
class StrictObject {
 public:
  void add(const std::string& name, double value) {
    if (std::isfinite(value)) {
      object_[name] = value;
    } else {
      object_[name] = nullptr;
      nonfinite_.push_back(name);
    }
  }
  void add(const std::string& name, float value) { add(name, static_cast<double>(value)); }
  void add(const std::string& name, std::int64_t value) { object_[name] = value; }
  void add(const std::string& name, std::uint64_t value) { object_[name] = value; }
  void add(const std::string& name, const std::string& value) { object_[name] = value; }
  template <typename Value>
  void add_by_optimizer(const std::string& name, const std::array<Value, 3>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) add(name + "_" + kOptimizers[i], values[i]);
  }

  // `indent` -1: one line. Bytes that are no UTF-8 (a device's name) become U+FFFD.
  std::string text(int indent) {
    if (!nonfinite_.empty()) object_["nonfinite"] = nonfinite_;
    return object_.dump(indent, ' ', false, Json::error_handler_t::replace);
  }

 private:
  Json object_ = Json::object();
  std::vector<std::string> nonfinite_;
};

std::optional<std::int64_t> step_of_object(std::string_view line) {
  const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::nullopt;
  const auto step = object.find("step");
  if (step == object.end() || !step->is_number_integer()) return std::nullopt;
  return step->get<std::int64_t>();
}

template <typename Value>
double mean_of(const std::vector<StepRecord>& interval, Value StepRecord::*member) {
  double sum = 0;
  for (const StepRecord& record : interval) sum += static_cast<double>(record.*member);
  return sum / static_cast<double>(interval.size());
}

// By time, not the mean of the steps' rates: slow steps count for as long as they took.
double images_per_second(const std::vector<StepRecord>& interval) {
  double images = 0;
  double seconds = 0;
  for (const StepRecord& record : interval) {
    images += record.images_per_second * record.batch_ms / 1000;
    seconds += record.batch_ms / 1000;
  }
  return seconds > 0 ? images / seconds : 0;
}

}  // namespace

StatsLog::StatsLog(const std::string& path, std::int64_t last_step)
    : log_(path, "", last_step, step_of_object) {}

void StatsLog::add(const std::vector<StepRecord>& interval) {
  if (interval.empty()) return;
  const StepRecord& last = interval.back();
  StrictObject object;
  object.add("step", last.step);
  object.add("steps", static_cast<std::int64_t>(interval.size()));
  object.add("images", last.images);
  object.add("elapsed_s", last.elapsed_seconds);
  object.add("batch_ms", mean_of(interval, &StepRecord::batch_ms));
  object.add("images_per_s", images_per_second(interval));
  object.add("d_loss", mean_of(interval, &StepRecord::d_loss));
  object.add("g_loss", mean_of(interval, &StepRecord::g_loss));
  object.add("q_loss", mean_of(interval, &StepRecord::q_loss));
  object.add("accuracy_real", mean_of(interval, &StepRecord::accuracy_real));
  object.add("accuracy_fake", mean_of(interval, &StepRecord::accuracy_fake));
  object.add_by_optimizer("loss_scale", last.loss_scale);
  object.add_by_optimizer("skipped", last.skipped);
  log_.add(object.text(-1));
}

void write_summary(const std::string& path, const RunSummary& summary) {
  StrictObject object;
  object.add("steps", summary.steps);
  object.add("images", summary.images);
  object.add("seconds", summary.seconds);
  object.add("sampling_seconds", summary.sampling_seconds);
  object.add("saving_seconds", summary.saving_seconds);
  object.add("evaluating_seconds", summary.evaluating_seconds);
  object.add("startup_seconds", summary.startup_seconds);
  object.add("median_batch_ms", summary.median_batch_ms);
  object.add("p10_batch_ms", summary.p10_batch_ms);
  object.add("p90_batch_ms", summary.p90_batch_ms);
  object.add("images_per_s", summary.images_per_second);
  object.add_by_optimizer("skipped", summary.skipped);
  object.add("peak_memory_mib", summary.peak_memory_mib);
  object.add("device", summary.device);
  object.add("precision", summary.precision);
  object.add("half", summary.half);
  object.add("seed", summary.seed);
  object.add("ended", summary.ended);
  if (!summary.best_by.empty()) {
    object.add("best_by", summary.best_by);
    object.add("best_value", summary.best_value);
    object.add("best_step", summary.best_step);
    object.add("best_checkpoint", std::string("checkpoints/best.safetensors"));
  }
  write_file_atomically(path, object.text(2) + "\n");
}

double quantile(std::vector<double> values, double q) {
  ACGAN_CHECK(q >= 0 && q <= 1);
  ACGAN_CHECK(std::ranges::none_of(values, [](double value) { return std::isnan(value); }));
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - static_cast<double>(below));
}

}  // namespace acgan
