#include "train/best_evaluation.h"

#include <charconv>
#include <cmath>

#include "base/format.h"
#include "config/config_keys.h"

namespace acgan {
namespace {

double figure_of(const QualityFigures& figures, BestBy by) {
  switch (by) {
    case BestBy::ClassAccuracy:
      return figures.class_accuracy.value_or(std::nan(""));
    case BestBy::Kid:
      return figures.kernel_distance.mean;
    case BestBy::Precision:
      return figures.precision;
    case BestBy::Recall:
      return figures.recall;
    default:
      return figures.frechet_distance;
  }
}

bool is_distance(const std::string& figure) { return figure == "frechet" || figure == "kid"; }

template <typename Number>
std::optional<Number> number_in(const std::map<std::string, std::string>& texts,
                                const std::string& key) {
  const auto found = texts.find(key);
  if (found == texts.end()) return std::nullopt;
  const char* const end = found->second.data() + found->second.size();
  Number number{};
  const auto [rest, error] = std::from_chars(found->second.data(), end, number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<BestEvaluation> judged_by(const OutputConfig& output, const QualityFigures& figures,
                                        const std::string& net_id, std::int64_t step) {
  if (output.best_by == BestBy::None) return std::nullopt;
  Config named;
  named.output.best_by = output.best_by == BestBy::Auto ? BestBy::Frechet : output.best_by;
  return BestEvaluation{.by = config_key("output.best_by").get(named),
                        .value = figure_of(figures, named.output.best_by),
                        .step = step,
                        .ruler = fmt::format("feature net {}, {} images against {}", net_id,
                                             figures.samples, figures.references)};
}

bool are_comparable(const BestEvaluation& a, const BestEvaluation& b) {
  return a.by == b.by && a.ruler == b.ruler;
}

bool is_better(const BestEvaluation& candidate, const BestEvaluation& best) {
  return is_distance(best.by) ? candidate.value < best.value : candidate.value > best.value;
}

void mark_best(const BestEvaluation& best, Checkpoint& checkpoint) {
  checkpoint.set_text("best_by", best.by);
  checkpoint.set_text("best_value", fmt::format("{}", best.value));
  checkpoint.set_text("best_ruler", best.ruler);
}

std::optional<BestEvaluation> best_in(const std::map<std::string, std::string>& texts) {
  const auto value = number_in<double>(texts, "best_value");
  const auto step = number_in<std::int64_t>(texts, "step");
  if (!value || !std::isfinite(*value) || !step) return std::nullopt;
  if (!texts.contains("best_by") || !texts.contains("best_ruler")) return std::nullopt;
  return BestEvaluation{
      .by = texts.at("best_by"), .value = *value, .step = *step, .ruler = texts.at("best_ruler")};
}

}  // namespace acgan
