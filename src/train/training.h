#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/open_backend.h"
#include "backend/profiling_backend.h"
#include "data/data_loader.h"
#include "data/dataset.h"
#include "train/best_evaluation.h"
#include "train/collapse_watch.h"
#include "train/evaluation.h"
#include "train/event_log.h"
#include "train/image_feed.h"
#include "train/run_log.h"
#include "train/sampler.h"
#include "train/schedule.h"
#include "train/step_pipeline.h"
#include "train/stopwatch.h"
#include "train/train_setup.h"
#include "train/train_state.h"
#include "train/trainer.h"
#include "train/write_guard.h"

namespace acgan {

// One run from its request to its end; run_training() is how others start it. Start and end are in
// training.cpp, what happens again and again in training_loop.cpp.
class Training {
 public:
  Training(const TrainRequest& request, Log& log, const std::atomic<int>& signal_received);
  RunEnd run();

 private:
  void log_start();
  void open_output();
  void open_events();
  std::string effective_config() const;
  void load_resume_point();
  void go_on_in_directory();
  void dry_run();

  void train();
  void start_step();
  StepRecord complete_step();
  void complete_steps(std::size_t still_under_way);
  void add_optimizer_states(StepRecord& record) const;
  void check_finite(const StepRecord& record);
  bool is_skipping() const;
  [[noreturn]] void fail_nonfinite(const std::string& what);
  bool time_is_up() const;
  void report(const StepRecord& record);

  std::string fakes_file() const;
  void sample(const std::string& path);
  void save();
  void prepare_evaluation();
  void evaluate();
  void cut_unused_logs();
  void take_best();
  void keep_if_best();
  void finish();
  void draw_pictures();
  RunSummary summarize(const std::string& ended);
  void summarize_failure(const Error& error);

  const TrainRequest& request_;
  const Config& config_;
  Log& log_;
  const std::atomic<int>& signal_;
  SteadyClock::time_point start_ = SteadyClock::now();

  ProfilingBackend* profile_ = nullptr;  // backend_, where a profile was asked for
  OpenedBackend opened_;
  Backend* backend_;
  std::optional<ResumePoint> resume_;
  std::uint64_t seed_;
  DType compute_;
  Dataset dataset_;  // without its images once they are on the device
  DataFacts facts_;
  ImageFeed feed_;
  TrainStep step_;
  DataLoader loader_;
  Sampler sampler_;
  std::vector<float> sample_z_;
  std::vector<std::int32_t> all_classes_;
  Schedule sample_schedule_, save_schedule_, evaluate_schedule_;
  std::unique_ptr<Evaluation> evaluation_;   // where figures of quality are asked for
  std::optional<BestEvaluation> candidate_;  // the last evaluation, until it was compared
  std::optional<BestEvaluation> best_;       // what best.safetensors holds
  bool best_is_void_ = false;  // it holds a step that is run again, and goes with the next save

  StepPipeline pipeline_;
  std::vector<OptimizerState> optimizer_states_;  // after the last completed step

  std::unique_ptr<RunLog> run_log_;
  std::unique_ptr<EventLog> events_;  // where TensorBoard was asked for
  WriteGuard writes_;
  CollapseWatch collapse_;
  Progress progress_;
  std::int64_t images_seen_ = 0;
  std::int64_t sampled_step_ = -1, saved_step_ = -1, evaluated_step_ = -1;
  bool save_is_due_ = false;
  double sampling_seconds_ = 0, saving_seconds_ = 0, evaluating_seconds_ = 0, startup_seconds_ = 0;
  double last_stats_ = 0, last_live_ = 0;  // elapsed wall time of the last lines
  std::string last_grid_;
};

}  // namespace acgan
