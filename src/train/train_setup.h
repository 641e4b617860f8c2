#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/open_backend.h"
#include "base/log.h"
#include "config/config.h"
#include "data/dataset.h"
#include "run/checkpoint.h"
#include "run/sample_grid.h"
#include "train/run_identity.h"
#include "train/train_step.h"

namespace acgan {

// From a config to what a run is made of.
BackendRequest backend_request(const Config& config);
// Settings of a GPU when a CPU was opened: Error{Usage} where that CPU was named, a warning where
// `auto` took it.
void check_gpu_settings(const Config& config, const OpenedBackend& opened, Log& log);
// One line for each reason why convolutions of the model are not computed by the fastest means the
// device has, with the names of those layers.
std::vector<std::string> convolution_notes(const Acgan& model, const Backend& backend);
DType half_type(const PrecisionConfig& precision, const Backend& backend);  // of mixed precision
DType compute_type(const PrecisionConfig& precision, const Backend& backend);
TrainStepOptions step_options(const Config& config, const Dataset& dataset, DType compute,
                              std::uint64_t seed);
// Warns where learning rates fall to nothing before the run's last step; empty where they do not.
std::string rate_end_note(const Config& config, std::int64_t step);
DataFacts facts_of(const Dataset& dataset, const Config& config);
// What is computed in which type, and whether it can pay on this device.
std::string precision_text(const PrecisionConfig& precision, DType compute, const Backend& backend);
// The first `rows` images of every class, one class a column; black where a class has fewer.
Picture reals_grid(const Dataset& dataset, std::int64_t rows);

// Where a resumed run goes on.
struct ResumePoint {
  std::string run_directory;
  Checkpoint checkpoint;
};
// `resume` is "latest" (the newest complete checkpoint of this config; a broken one is passed over
// with a warning), a checkpoint file, or a run directory. Throws Error{Output} when there is
// nothing to go on from.
ResumePoint find_resume_point(const std::string& resume, const Config& config, Log& log);

// The seed of a run: a run that goes on keeps the one it was started with.
std::uint64_t choose_seed(const Config& config, const std::optional<ResumePoint>& resume, Log& log);

}  // namespace acgan
