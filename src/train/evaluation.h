#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "quality/quality_report.h"
#include "run/line_log.h"
#include "train/sampler.h"
#include "train/train_state.h"

namespace acgan {

// Fakes for a QualityMeter, in latents that depend on the seed only. `sampler` lives as long.
MakeFakes fakes_from(Sampler& sampler, std::int64_t latent_dim, std::uint64_t seed);

// Judges the generator of a run while it trains, a line of metrics.jsonl each time, by the same
// figures as the command `evaluate` without options (there from F32 weights).
class Evaluation {
 public:
  // Reads the data anew, since the training gives its images to the device.
  Evaluation(Backend& backend, const DataConfig& data, std::uint64_t data_seed);

  // Appends to `metrics_file`; what it holds after `last_step` goes.
  // Takes the lines after `last_step` out of a metrics.jsonl. Throws Error{Output} like LineLog.
  static void cut_log(const std::string& metrics_file, std::int64_t last_step) {
    LineLog(metrics_file, "", last_step, step_of_quality);
  }
  void open(const std::string& metrics_file, std::int64_t last_step);
  QualityFigures run(Sampler& sampler, std::int64_t latent_dim, GeneratorWeights weights,
                     const Progress& progress);

  const QualityMeter& meter() const { return meter_; }

 private:
  QualityMeter meter_;
  std::unique_ptr<LineLog> log_;
};

}  // namespace acgan
