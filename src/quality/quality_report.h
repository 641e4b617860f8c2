#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "quality/quality_meter.h"

namespace acgan {

// One judgement with what must be known to read it.
struct QualityRecord {
  std::string source;                // what was judged: a checkpoint, a folder
  std::optional<std::int64_t> step;  // of the training that made the generator
  std::optional<double> elapsed_seconds;
  std::optional<std::uint64_t> seed;   // of the generator's latents
  std::optional<std::string> weights;  // of the generator: "average" or "live"
  // Whether the generator was trained on the held-out images; none: not known.
  std::optional<bool> generator_saw_held_out;
  QualityFigures figures;
};

// One line of strict JSON for metrics.jsonl, null for what is not known:
//   source, step, elapsed_s, seed
//   weights                        "average" (train.ema) or "live": which the generator drew with
//   samples, references            images judged, held-out images they were compared with
//   class_accuracy, frechet, kid, kid_spread, kid_subsets, kid_subset_size, precision, recall,
//   diversity                      as in QualityFigures
//   classes                        [{name, accuracy, diversity}]
//   floor                          the same figures, from samples to diversity, of real images
//   feature_net                    {version, id, seed, width, held_out_accuracy, file, scale}: of a
//                                  net in a file id is its SHA-256; null what only the other has
//   data                           {fingerprint, description, held_out, generator_saw_held_out}
std::string quality_json(const QualityRecord& record, const QualityMeter& meter);
// The step of such a line; none where it is no whole record.
std::optional<std::int64_t> step_of_quality(std::string_view line);

// For the terminal: what was compared, the figures beside those of real images, each class.
std::string quality_table(const QualityRecord& record, const QualityMeter& meter);
// For the log of a training: one line.
std::string quality_line(const QualityFigures& figures, const QualityFigures& floor);
// The feature net, where it came from and how good it is.
std::string feature_net_text(const QualityMeter& meter);

}  // namespace acgan
