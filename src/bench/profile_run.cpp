#include "bench/profile_run.h"

#include <stdlib.h>  // mkdtemp

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "bench/lane.h"
#include "bench/machine.h"
#include "bench/step_operations.h"
#include "run/timing_log.h"
#include "train/sampler.h"
#include "train/train_setup.h"

namespace acgan {
namespace {

constexpr std::int64_t kFewestProfiledSteps = 3;

template <typename Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of writing a row of timing.csv, into a folder that goes again.
double logging_seconds() {
  constexpr int kRows = 200;
  std::string folder = (std::filesystem::temp_directory_path() / "acgan_bench_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    fail(ErrorKind::Output, "cannot make a folder like {}: {}", folder, std::strerror(errno));
  }
  double seconds = 0;
  {
    TimingLog timing(folder + "/timing.csv", 0);
    seconds = seconds_of([&] {
      for (int i = 1; i <= kRows; ++i) timing.add({.step = i, .images = i});
    });
  }
  std::filesystem::remove_all(folder);
  return seconds / kRows;
}

// A lane with a backend of its own, whose operations are measured apart from the other lanes'.
struct ProfiledLane {
  ProfiledLane(const Config& config, const SweepLimits& limits, Log& log)
      : profile(open_device(config, log).backend),
        data(profile, load_dataset(config.data, config.train.seed.value_or(1))),
        lane((check_dataset(data.dataset(), config.train.batch), profile), data, config) {
    name_layers(profile, lane.step());
    lane.warm_up(std::max(limits.warmup, kFewestWarmupSteps));
    profile.reset();
  }

  LaneProfile result(std::int64_t steps) {
    LaneProfile result{.label = precision_label(lane.compute()),
                       .steps = steps,
                       .operations = profile.operations(),
                       .phases = profile.phases(),
                       .step_seconds = lane.seconds() / static_cast<double>(steps),
                       .sampling_share = 0,
                       .logging_seconds = logging_seconds()};
    const double every = 60 * lane.config().output.sample_every;
    if (every > 0) result.sampling_share = grid_seconds() / every;
    return result;
  }

  // Of one sample grid, the faster of two.
  double grid_seconds() {
    const OutputConfig& output = lane.config().output;
    const TrainStep& step = lane.step();
    step.refresh_average();
    Sampler sampler(step.model().shape, step.drawn_generator(), kSampleChunk);
    const auto z = sample_latents(1, output.rows, lane.config().model.latent_dim);
    std::vector<std::int32_t> classes(data.dataset().class_names.size());
    std::iota(classes.begin(), classes.end(), 0);
    const auto draw = [&] { sampler.generate_grid(z, classes); };
    return std::min(seconds_of(draw), seconds_of(draw));
  }

  ProfilingBackend profile;
  BenchData data;
  Lane lane;
};

}  // namespace

std::vector<LaneProfile> profile_batch(const SweepRequest& request, std::int64_t batch, Log& log,
                                       const std::atomic<int>& signal_received) {
  const SweepLimits& limits = request.limits;
  Config config = request.config;
  config.train.batch = batch;
  std::vector<std::unique_ptr<ProfiledLane>> lanes;
  for (const PrecisionChoice& choice : request.choices) {
    config.precision.mode = choice.mode;
    config.precision.half = choice.half;
    lanes.push_back(std::make_unique<ProfiledLane>(config, limits, log));
  }
  std::int64_t steps = 0;
  const auto is_short = [&](const auto& lane) { return lane->lane.seconds() < limits.min_seconds; };
  while (signal_received == 0 &&
         (steps < kFewestProfiledSteps || std::ranges::any_of(lanes, is_short))) {
    for (const auto& lane : lanes) lane->lane.measure(1);
    ++steps;
  }
  std::vector<LaneProfile> profiles;
  for (const auto& lane : lanes) {
    profiles.push_back(lane->result(steps));
  }
  return profiles;
}

}  // namespace acgan
