#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace acgan {

// One run's folder: NNNNN-<config>-<precision>-batch<N>/ with samples/ and checkpoints/ in it
// (README, "A run directory"). Names use [A-Za-z0-9._-] only.
class RunDirectory {
 public:
  // Makes the next numbered directory under `outdir` (made as well if missing); safe against
  // another run started at the same moment. Throws Error{Output} when it cannot be made or written.
  static RunDirectory create(const std::string& outdir, const Config& config);
  // Throws what create() would where `outdir` cannot be made or written; makes nothing.
  static void check_can_create(const std::string& outdir);
  // An existing run directory; removes stale temporary files in it. Throws Error{Output} when it is
  // none.
  static RunDirectory open(const std::string& path);
  // The newest run of this config name, precision and batch under `outdir` that has a checkpoint.
  static std::optional<RunDirectory> find_latest(const std::string& outdir, const Config& config);

  const std::string& path() const { return path_; }
  std::string config_file() const;  // config.yaml, of what runs now
  // config_until_step_000123.yaml: what ran up to that step, where it was resumed with another
  std::string config_file_until(std::int64_t step) const;
  std::string log_file() const;         // log.txt
  std::string timing_file() const;      // timing.csv
  std::string stats_file() const;       // stats.jsonl
  std::string summary_file() const;     // summary.json
  std::string metrics_file() const;     // metrics.jsonl
  std::string reals_file() const;       // samples/reals.png
  std::string fakes_init_file() const;  // samples/fakes_init.png
  // samples/fakes_000123_07m00s.png: step and training time; hours are counted as minutes.
  std::string fakes_file(std::int64_t step, double elapsed_seconds) const;
  // fakes_init.png and the fakes_file()s that are there, in the order of their steps.
  std::vector<std::string> fakes_files() const;
  std::string animation_file() const;                    // samples/progress.webp
  std::string report_file() const;                       // report.html
  std::string tensorboard_folder() const;                // tensorboard/
  std::string checkpoint_file(std::int64_t step) const;  // checkpoints/step_000123.safetensors

  std::string best_file() const;  // checkpoints/best.safetensors

  // Makes `config` the one that runs from `step` on. Where another ran up to there it is kept as
  // config_file_until(step); those of later steps, which are run again, go. Returns the file kept,
  // if any.
  std::optional<std::string> change_config(const std::string& config, std::int64_t step) const;

  // Checkpoint files, newest (highest step) first; the best one has its place among them by the
  // step in its metadata, behind that of the same step, and is the last where that cannot be read.
  std::vector<std::string> checkpoints() const;
  // The highest step of those; none where there is none.
  std::optional<std::int64_t> newest_step() const;
  void remove_best() const;  // where there is one
  // Once the checkpoint of step `newest` stands: removes those of later steps (a run that went on
  // from an earlier one has left them behind), their grids, and all but the newest `keep` of the
  // rest. The best one is none of these.
  void prune(std::int64_t newest, std::int64_t keep) const;

 private:
  explicit RunDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace acgan
