#include "train/event_log.h"

#include <utility>
#include <vector>

namespace acgan {

namespace {

constexpr double kSecondsBetweenEvents = 1;  // of training

}  // namespace

void EventLog::add(const StepRecord& record) {
  last_ = record;
  ++sums_.steps;
  sums_.d_loss += record.d_loss;
  sums_.g_loss += record.g_loss;
  sums_.q_loss += record.q_loss;
  sums_.accuracy_real += record.accuracy_real;
  sums_.accuracy_fake += record.accuracy_fake;
  sums_.images += record.images_per_second * record.batch_ms / 1000;
  sums_.seconds += record.batch_ms / 1000;
  if (sums_.seconds >= kSecondsBetweenEvents) flush();
}

void EventLog::add_quality(std::int64_t step, const QualityFigures& figures) {
  std::vector<EventScalar> scalars;
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) scalars.push_back({name, static_cast<float>(*value)});
  };
  add("quality/class_accuracy", figures.class_accuracy);
  add("quality/frechet", figures.frechet_distance);
  add("quality/kid", figures.kernel_distance.mean);
  add("quality/precision", figures.precision);
  add("quality/recall", figures.recall);
  add("quality/diversity", figures.diversity);
  file_.add_scalars(step, scalars);
}

void EventLog::flush() {
  const Sums sums = std::exchange(sums_, {});
  if (sums.steps == 0) return;
  const auto mean = [&](double sum) {
    return static_cast<float>(sum / static_cast<double>(sums.steps));
  };
  const double speed = sums.seconds > 0 ? sums.images / sums.seconds : 0;
  std::vector<EventScalar> scalars{{"loss/d", mean(sums.d_loss)},
                                   {"loss/g", mean(sums.g_loss)},
                                   {"loss/q", mean(sums.q_loss)},
                                   {"accuracy/real", mean(sums.accuracy_real)},
                                   {"accuracy/fake", mean(sums.accuracy_fake)},
                                   {"speed/images_per_s", static_cast<float>(speed)}};
  constexpr const char* kOptimizers[] = {"d", "g", "q"};
  for (std::size_t i = 0; i < last_.loss_scale.size(); ++i) {
    const std::string name = kOptimizers[i];
    scalars.push_back({"loss_scale/" + name, last_.loss_scale[i]});
    scalars.push_back({"skipped/" + name, static_cast<float>(last_.skipped[i])});
  }
  file_.add_scalars(last_.step, scalars);
}

}  // namespace acgan
