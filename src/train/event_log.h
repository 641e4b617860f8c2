#pragma once

#include <cstdint>
#include <string>

#include "quality/quality_meter.h"
#include "run/event_file.h"
#include "run/step_record.h"

namespace acgan {

// What a run tells TensorBoard. Scalars, each a second of training: loss/d, g and q, accuracy/real
// and fake (means over its steps), speed/images_per_s, loss_scale/d, g and q, skipped/d, g and q;
// at each evaluation quality/ with the names of metrics.jsonl (class_accuracy, frechet, kid,
// precision, recall, diversity). Images: the sample grids, as "fakes".
class EventLog {
 public:
  // Throw Error{Output} as EventFile does.
  EventLog(const std::string& folder, std::int64_t last_step) : file_(folder, last_step) {}
  void add(const StepRecord& record);
  void add_quality(std::int64_t step, const QualityFigures& figures);
  void add_grid(std::int64_t step, const Picture& grid) { file_.add_image(step, "fakes", grid); }
  // What was not written yet of the steps so far.
  void flush();

 private:
  // Sums over the steps since the last event.
  struct Sums {
    std::int64_t steps = 0;
    double d_loss = 0, g_loss = 0, q_loss = 0, accuracy_real = 0, accuracy_fake = 0;
    double images = 0, seconds = 0;
  };

  EventFile file_;
  Sums sums_;
  StepRecord last_;
};

}  // namespace acgan
