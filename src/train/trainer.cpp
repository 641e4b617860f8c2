#include "train/trainer.h"

#include <csignal>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "backend/open_backend.h"
#include "backend/profiling_backend.h"
#include "base/error.h"
#include "config/load_config.h"
#include "data/data_loader.h"
#include "data/dataset.h"
#include "run/atomic_file.h"
#include "run/run_directory.h"
#include "train/batch_advice.h"
#include "train/evaluation.h"
#include "train/image_feed.h"
#include "train/memory_plan.h"
#include "train/progress_text.h"
#include "train/run_log.h"
#include "train/sampler.h"
#include "train/schedule.h"
#include "train/train_setup.h"
#include "train/train_state.h"

namespace acgan {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double kStatsIntervalSeconds = 10;
constexpr double kLiveIntervalSeconds = 0.2;
// Steps that may be under way: the device always has the next one while this program looks at the
// last one.
constexpr std::size_t kStepsUnderWay = 2;

// Adds the time of its own life to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum) {}
  ~Stopwatch() { sum_ += seconds_since(start_); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  Clock::time_point start_ = Clock::now();
};

class Trainer {
 public:
  Trainer(const TrainRequest& request, Log& log, const std::atomic<int>& signal_received);
  RunEnd run();

 private:
  void log_start();
  void open_output();
  std::string effective_config() const;
  void load_resume_point();
  void go_on_in_directory();
  void dry_run();

  void train();
  void start_step();
  StepRecord complete_step();
  void complete_steps(std::size_t still_under_way);
  void add_optimizer_states(StepRecord& record) const;
  void check_finite(const StepRecord& record) const;
  bool is_skipping() const;
  [[noreturn]] void fail_nonfinite(const std::string& what) const;
  bool time_is_up() const;
  void report(const StepRecord& record);

  void sample(const std::string& path);
  void save();
  void prepare_evaluation();
  void evaluate();
  void finish();
  RunSummary summarize(const std::string& ended);
  void summarize_failure(const Error& error);

  const TrainRequest& request_;
  const Config& config_;
  Log& log_;
  const std::atomic<int>& signal_;
  Clock::time_point start_ = Clock::now();

  ProfilingBackend* profile_ = nullptr;  // backend_, where a profile was asked for
  OpenedBackend opened_;
  Backend* backend_;
  std::optional<ResumePoint> resume_;
  std::uint64_t seed_;
  DType compute_;
  Dataset dataset_;  // without its images once they are on the device
  std::string fingerprint_;
  ImageFeed feed_;
  TrainStep step_;
  DataLoader loader_;
  Sampler sampler_;
  std::vector<float> sample_z_;
  std::vector<std::int32_t> all_classes_;
  Schedule sample_schedule_, save_schedule_, evaluate_schedule_;
  std::unique_ptr<Evaluation> evaluation_;  // where figures of quality are asked for

  // One more than can be under way: a step's time is counted from where the one before ended.
  std::array<std::unique_ptr<Readback>, kStepsUnderWay + 1> outcomes_;
  std::unique_ptr<Readback> resting_;  // where the device was when it last had nothing to do
  const Readback* step_began_ = nullptr;
  std::size_t started_ = 0, completed_ = 0;       // steps of this process
  std::vector<OptimizerState> optimizer_states_;  // after the last completed step

  std::unique_ptr<RunLog> run_log_;
  Progress progress_;
  std::int64_t images_seen_ = 0;
  std::int64_t sampled_step_ = -1, saved_step_ = -1, evaluated_step_ = -1;
  bool save_is_due_ = false;
  double sampling_seconds_ = 0, saving_seconds_ = 0, evaluating_seconds_ = 0, startup_seconds_ = 0;
  double last_stats_ = 0, last_live_ = 0;  // elapsed wall time of the last lines
  std::string last_grid_;
};

OpenedBackend open_training_backend(const TrainRequest& request, Log& log,
                                    ProfilingBackend*& profile) {
  OpenedBackend opened = open_backend(backend_request(request.config));
  check_gpu_settings(request.config, opened, log);
  if (!request.profile) return opened;
  auto profiling = std::make_unique<ProfilingBackend>(std::move(opened.backend));
  profile = profiling.get();
  return {std::move(profiling), opened.why_not_cuda};
}

Trainer::Trainer(const TrainRequest& request, Log& log, const std::atomic<int>& signal_received)
    : request_(request),
      config_(request.config),
      log_(log),
      signal_(signal_received),
      opened_(open_training_backend(request, log, profile_)),
      backend_(opened_.backend.get()),
      resume_(request.resume ? std::optional(find_resume_point(*request.resume, config_, log))
                             : std::nullopt),
      seed_(choose_seed(config_, resume_, log)),
      compute_(compute_type(config_.precision, *backend_)),
      dataset_(load_dataset(config_.data, seed_)),
      fingerprint_((check_dataset(dataset_, config_.train.batch), fingerprint_of(dataset_))),
      feed_(*backend_, dataset_, config_.train.batch,
            total_bytes(plan_memory(step_options(config_, dataset_, compute_, seed_)))),
      step_(make_train_step(*backend_, step_options(config_, dataset_, compute_, seed_))),
      loader_(dataset_.count(), seed_),
      sampler_(step_.model(), kSampleChunk),
      sample_z_(sample_latents(seed_, config_.output.rows, config_.model.latent_dim)),
      all_classes_(dataset_.class_names.size()),
      sample_schedule_(config_.output.sample_every, config_.output.sample_at),
      save_schedule_(config_.output.save_every),
      evaluate_schedule_(config_.output.evaluate_every) {
  step_.model().initialize(seed_);
  for (auto& outcome : outcomes_) outcome = step_.make_outcome_readback();
  resting_ = backend_->make_readback({});
  std::iota(all_classes_.begin(), all_classes_.end(), 0);
  if (resume_) load_resume_point();
  for (const auto& adam : step_.optimizers()) optimizer_states_.push_back(adam->read_state());
}

void Trainer::log_start() {
  log_.info("device: {}", backend_->description());
  if (!opened_.why_not_cuda.empty()) {
    log_.info("device: auto took the CPU: {}", opened_.why_not_cuda);
  }
  log_.info("data: {}; {} images {}x{}x{}", dataset_.description, dataset_.count(), dataset_.height,
            dataset_.width, dataset_.channels);
  log_.info("data: {}", class_table(dataset_));
  if (!feed_.on_device()) {
    log_.info(
        "data: the set does not fit into the device's memory; batches are sent from the host");
  }
  log_.info("model: {}", model_text(step_));
  log_.info("precision: {}", precision_text(config_.precision, compute_, *backend_));
  for (const std::string& note : convolution_notes(step_.model(), *backend_)) {
    log_.info("convolutions: {}", note);
  }
  log_.info("memory: {}", memory_text(step_.memory(), dataset_));
  log_.info("seed: {}", seed_);
}

RunEnd Trainer::run() {
  log_start();
  if (request_.dry_run) {
    dry_run();
    return RunEnd::Done;
  }
  if (config_.output.evaluate_every > 0) prepare_evaluation();
  open_output();
  if (evaluation_) evaluation_->open(run_log_->directory().metrics_file(), progress_.step);
  if (feed_.on_device()) dataset_.images = {};
  startup_seconds_ = seconds_since(start_);
  if (profile_ != nullptr) profile_->reset();
  try {
    train();
    if (profile_ != nullptr) log_.info("{}", profile_->report());
    finish();
  } catch (const Error& error) {
    summarize_failure(error);
    throw;
  }
  return signal_ == 0 ? RunEnd::Done : static_cast<RunEnd>(128 + signal_);
}

void Trainer::open_output() {
  if (resume_) {
    go_on_in_directory();
    return;
  }
  run_log_ = std::make_unique<RunLog>(RunDirectory::create(config_.output.dir, config_), 0);
  const RunDirectory& directory = run_log_->directory();
  log_.open_file(directory.log_file());
  write_file_atomically(directory.config_file(), effective_config());
  log_.info("run directory: {}", directory.path());
  write_png(directory.reals_file(), reals_grid(dataset_, config_.output.rows));
  sample(directory.fakes_init_file());
}

// As YAML, with the seed that was drawn.
std::string Trainer::effective_config() const {
  Config effective = config_;
  effective.train.seed = seed_;
  return dump_config(effective);
}

void Trainer::load_resume_point() {
  load_state(resume_->checkpoint, step_, loader_, progress_, dataset_.class_names, fingerprint_);
  sample_schedule_.skip_to(progress_.elapsed_seconds);
  save_schedule_.skip_to(progress_.elapsed_seconds);
  evaluate_schedule_.skip_to(progress_.elapsed_seconds);
  saved_step_ = progress_.step;
  images_seen_ = static_cast<std::int64_t>(loader_.position().epoch) * dataset_.count() +
                 loader_.position().index;
}

void Trainer::go_on_in_directory() {
  run_log_ = std::make_unique<RunLog>(RunDirectory::open(resume_->run_directory), progress_.step);
  const RunDirectory& directory = run_log_->directory();
  log_.open_file(directory.log_file());
  log_.info("run directory: {}", directory.path());
  if (const auto kept = directory.change_config(effective_config(), progress_.step)) {
    log_.info("config: another one than up to step {}, which is kept as {}", progress_.step, *kept);
  }
  const std::string source = resume_->checkpoint.source();
  log_.info("resumed from {} at step {}, {} of training", source, progress_.step,
            duration_text(progress_.elapsed_seconds));
  const std::vector<std::string> checkpoints = directory.checkpoints();
  if (!checkpoints.empty() && std::filesystem::path(checkpoints.front()).filename() !=
                                  std::filesystem::path(source).filename()) {
    log_.warn(
        "the steps after {} are run again; their rows in the logs are gone, their checkpoints "
        "will be with the next one saved",
        progress_.step);
  }
  resume_.reset();  // the training has it
}

// One step, one grid and one save in memory: what could fail later fails now.
void Trainer::dry_run() {
  RunDirectory::check_can_create(config_.output.dir);
  if (config_.output.evaluate_every > 0) load_real_data(config_.data, seed_);
  start_step();
  check_finite(complete_step());
  sampler_.generate_grid(sample_z_, all_classes_);
  const Checkpoint checkpoint = save_state(step_, loader_.position(), progress_, effective_config(),
                                           dataset_.class_names, fingerprint_);
  log_.info("memory after one step: {}", memory_text(step_.memory(), dataset_));
  log_.info("memory plan {}",
            memory_plan_text(step_.options(), half_type(config_.precision, *backend_)));
  log_.info("plan: {:.2f} GFLOP a step, checkpoints of {}", step_.step_flops() * 1e-9,
            bytes_text(checkpoint.byte_size()));
  log_.info("dry run: one step, one grid and one checkpoint done in memory; nothing was written");
}

void Trainer::train() {
  while (!time_is_up() && signal_ == 0) {
    start_step();
    complete_steps(kStepsUnderWay - 1);
    const bool sample_is_due = sample_schedule_.due(progress_.elapsed_seconds);
    save_is_due_ |= save_schedule_.due(progress_.elapsed_seconds);
    const bool evaluation_is_due = evaluate_schedule_.due(progress_.elapsed_seconds);
    if (sample_is_due || save_is_due_ || evaluation_is_due) complete_steps(0);
    if (sample_is_due) {
      sample(run_log_->directory().fakes_file(progress_.step, progress_.elapsed_seconds));
    }
    if (save_is_due_ && !is_skipping()) save();
    if (evaluation_is_due) evaluate();
  }
  complete_steps(0);
}

void Trainer::start_step() {
  if (started_ == completed_) {
    resting_->start();
    step_began_ = resting_.get();
  }
  std::vector<std::int32_t> indices(static_cast<std::size_t>(config_.train.batch));
  loader_.next(indices);
  feed_.load(step_, indices);
  try {
    step_.run();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Device || started_ != 0 || config_.train.batch < 4) throw;
    // Everything but the working memory of operations was there.
    fail(ErrorKind::Device, "{}; --batch {} fits", error.what(), config_.train.batch / 2);
  }
  outcomes_[started_ % outcomes_.size()]->start();
  ++started_;
}

// Waits for the oldest step under way.
StepRecord Trainer::complete_step() {
  Readback& readback = *outcomes_[completed_ % outcomes_.size()];
  readback.wait();
  const double seconds = 1e-3 * readback.milliseconds_since(*step_began_);
  step_began_ = &readback;
  ++completed_;
  const StepOutcome outcome = step_.outcome(readback);
  const StepMetrics& metrics = outcome.metrics;
  optimizer_states_ = outcome.optimizers;

  ++progress_.step;
  progress_.elapsed_seconds += seconds;
  images_seen_ += config_.train.batch;
  StepRecord record{.step = progress_.step,
                    .images = images_seen_,
                    .elapsed_seconds = progress_.elapsed_seconds,
                    .batch_ms = 1e3 * seconds,
                    .images_per_second = static_cast<double>(config_.train.batch) / seconds,
                    .d_loss = metrics.d(),
                    .g_loss = metrics.g,
                    .q_loss = metrics.q(),
                    .accuracy_real = metrics.accuracy_real,
                    .accuracy_fake = metrics.accuracy_fake};
  add_optimizer_states(record);
  return record;
}

// Logs and checks what is done, and waits until no more than `still_under_way` are not.
void Trainer::complete_steps(std::size_t still_under_way) {
  while (completed_ < started_ && (started_ - completed_ > still_under_way ||
                                   outcomes_[completed_ % outcomes_.size()]->is_ready())) {
    const StepRecord record = complete_step();
    run_log_->add(record);
    report(record);
    check_finite(record);
  }
}

void Trainer::add_optimizer_states(StepRecord& record) const {
  for (std::size_t i = 0; i < optimizer_states_.size(); ++i) {
    record.loss_scale[i] = optimizer_states_[i].loss_scale;
    record.skipped[i] = optimizer_states_[i].skipped;
  }
}

void Trainer::check_finite(const StepRecord& record) const {
  for (std::size_t i = 0; i < optimizer_states_.size(); ++i) {
    const OptimizerState& state = optimizer_states_[i];
    if (state.consecutive_skips <= config_.precision.max_consecutive_skips) continue;
    fail_nonfinite(fmt::format(
        "at step {} the gradients of optimizer {} were Inf or NaN in {} steps one after the other "
        "(loss scale {})",
        record.step, step_.optimizers()[i]->name(), state.consecutive_skips, state.loss_scale));
  }
}

void Trainer::fail_nonfinite(const std::string& what) const {
  std::string kept = "no checkpoint was written yet";
  if (run_log_ && !run_log_->directory().checkpoints().empty()) {
    kept = "the last good checkpoint is " + run_log_->directory().checkpoints().front();
  }
  fail(ErrorKind::NonFinite,
       "training went non-finite: {}; {}; try a lower learning rate or --precision fp32", what,
       kept);
}

// Weights from which no step succeeds may be lost already: they must not take a good checkpoint's
// place.
bool Trainer::is_skipping() const {
  return std::any_of(optimizer_states_.begin(), optimizer_states_.end(),
                     [](const OptimizerState& state) { return state.consecutive_skips > 0; });
}

bool Trainer::time_is_up() const {
  const TrainConfig& train = config_.train;
  const auto under_way = static_cast<std::int64_t>(started_ - completed_);
  return (train.steps > 0 && progress_.step + under_way >= train.steps) ||
         (train.minutes > 0 && progress_.elapsed_seconds >= 60 * train.minutes);
}

// The live line on a terminal, plain lines and stats.jsonl at intervals.
void Trainer::report(const StepRecord& record) {
  const double now = seconds_since(start_);
  if (log_.is_live() && now - last_live_ >= kLiveIntervalSeconds) {
    last_live_ = now;
    log_.progress(progress_line(record, config_.train));
  }
  if (now - last_stats_ >= kStatsIntervalSeconds || time_is_up()) {
    last_stats_ = now;
    if (!log_.is_live() || time_is_up()) log_.info("{}", progress_line(record, config_.train));
    run_log_->flush_interval();
  }
}

void Trainer::sample(const std::string& path) {
  const Stopwatch watch(sampling_seconds_);
  const std::vector<std::uint8_t> pixels = sampler_.generate_grid(sample_z_, all_classes_);
  write_png(path, make_grid(pixels, config_.output.rows, step_.options().shape.classes,
                            dataset_.height, dataset_.width, dataset_.channels));
  sampled_step_ = progress_.step;
  last_grid_ = path;
  log_.info("samples: {}", path);
}

void Trainer::save() {
  const Stopwatch watch(saving_seconds_);
  const std::string path = run_log_->directory().checkpoint_file(progress_.step);
  save_state(step_, loader_.position(), progress_, effective_config(), dataset_.class_names,
             fingerprint_)
      .save(path);
  run_log_->directory().prune_checkpoints(progress_.step, config_.output.keep);
  saved_step_ = progress_.step;
  save_is_due_ = false;
  log_.info("checkpoint: {}", path);
}

// Before the first step, so that what operations need for it is there when steps are captured.
void Trainer::prepare_evaluation() {
  log_.info("quality: preparing the feature net, which may take a minute the first time");
  evaluation_ = std::make_unique<Evaluation>(*backend_, config_.data, seed_);
  const QualityMeter& meter = evaluation_->meter();
  if (meter.real().fingerprint != fingerprint_) {
    fail(ErrorKind::Data, "the data set ({}) changed while it was read: start again",
         dataset_.description);
  }
  if (!meter.net_origin().problem.empty()) {
    log_.warn("cache of feature nets: {}", meter.net_origin().problem);
  }
  log_.info("quality: {}", feature_net_text(meter));
  log_.info("quality: held out: {}", meter.real().held_out_source);
}

void Trainer::evaluate() {
  const Stopwatch watch(evaluating_seconds_);
  const QualityFigures figures = evaluation_->run(sampler_, config_.model.latent_dim, progress_);
  evaluated_step_ = progress_.step;
  log_.info("quality: {}", quality_line(figures, evaluation_->meter().floor()));
}

void Trainer::finish() {
  const StepMetrics last = step_.read_metrics();
  if (!std::isfinite(last.d()) || !std::isfinite(last.g) || !std::isfinite(last.q())) {
    fail_nonfinite(fmt::format("at step {}, the last one, a loss is Inf or NaN", progress_.step));
  }
  if (saved_step_ != progress_.step) save();
  if (sampled_step_ != progress_.step) {
    sample(run_log_->directory().fakes_file(progress_.step, progress_.elapsed_seconds));
  }
  const bool evaluation_is_wanted = evaluation_ && started_ > 0 && signal_ == 0;
  if (evaluation_is_wanted && evaluated_step_ != progress_.step) evaluate();
  if (started_ == 0 && std::filesystem::exists(run_log_->directory().summary_file())) {
    log_.info("nothing left to do: the run has its {} steps and {} of training; its summary stands",
              progress_.step, duration_text(progress_.elapsed_seconds));
    log_.info("run directory: {}", run_log_->directory().path());
    return;
  }
  const bool out_of_steps = config_.train.steps > 0 && progress_.step >= config_.train.steps;
  const RunSummary summary = summarize(signal_ == SIGINT    ? "SIGINT"
                                       : signal_ == SIGTERM ? "SIGTERM"
                                       : signal_ == SIGHUP  ? "SIGHUP"
                                       : out_of_steps       ? "steps"
                                                            : "minutes");
  const double gflops =
      summary.median_batch_ms > 0 ? step_.step_flops() / summary.median_batch_ms * 1e-6 : 0.0;
  log_.info(
      "done: {} steps, {} of training ({}), median {:.1f} ms a step, {:.1f} images/s, {:.1f} "
      "GFLOP/s",
      summary.steps, duration_text(summary.seconds), summary.ended, summary.median_batch_ms,
      summary.images_per_second, gflops);
  log_.info("run directory: {}", run_log_->directory().path());
  log_.info("newest grid: {}", last_grid_);
}

// As far as the disk still lets us; the error itself is what counts.
void Trainer::summarize_failure(const Error& error) {
  try {
    summarize(error.kind() == ErrorKind::NonFinite ? "non-finite" : "error");
  } catch (const Error&) {
    log_.debug("summary.json could not be written");
  }
}

// Closes stats.jsonl and writes summary.json.
RunSummary Trainer::summarize(const std::string& ended) {
  run_log_->flush_interval();
  StepRecord start{
      .step = progress_.step, .images = images_seen_, .elapsed_seconds = progress_.elapsed_seconds};
  add_optimizer_states(start);
  RunSummary summary = run_log_->summarize(config_.train.batch, start);
  summary.sampling_seconds = sampling_seconds_;
  summary.saving_seconds = saving_seconds_;
  summary.evaluating_seconds = evaluating_seconds_;
  summary.startup_seconds = startup_seconds_;
  summary.device = backend_->name();
  summary.precision = config_.precision.mode == PrecisionMode::Mixed ? "mixed" : "fp32";
  summary.half = compute_ == DType::F32 ? "" : std::string(name_of(compute_));
  summary.ended = ended;
  summary.seed = seed_;
  write_summary(run_log_->directory().summary_file(), summary);
  return summary;
}

}  // namespace

RunEnd run_training(const TrainRequest& request, Log& log,
                    const std::atomic<int>& signal_received) {
  return Trainer(request, log, signal_received).run();
}

}  // namespace acgan
