#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "config/config.h"
#include "quality/quality_meter.h"
#include "run/checkpoint.h"

namespace acgan {

// The evaluation whose state a run keeps as best.safetensors.
struct BestEvaluation {
  std::string by;  // the figure that decides, by its name in metrics.jsonl
  double value = 0;
  std::int64_t step = 0;
  // Feature net and numbers of images: only values with the same ones can be compared.
  std::string ruler;
};

// An evaluation seen by the figure that `output.best_by` names; none where it names none.
std::optional<BestEvaluation> judged_by(const OutputConfig& output, const QualityFigures& figures,
                                        const std::string& net_id, std::int64_t step);
// Whether they have the same figure and ruler.
bool are_comparable(const BestEvaluation& a, const BestEvaluation& b);
// Of two comparable ones: distances the smaller, shares the larger, never NaN; a tie is no
// improvement.
bool is_better(const BestEvaluation& candidate, const BestEvaluation& best);

// Into a checkpoint's metadata (best_by, best_value, best_ruler) and back; none where those texts
// are missing or no evaluation's.
void mark_best(const BestEvaluation& best, Checkpoint& checkpoint);
std::optional<BestEvaluation> best_in(const std::map<std::string, std::string>& texts);

}  // namespace acgan
