#include "train/training.h"

#include <csignal>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/atomic_file.h"
#include "base/error.h"
#include "config/load_config.h"
#include "report/figure.h"
#include "run/run_directory.h"
#include "train/batch_advice.h"
#include "train/memory_plan.h"
#include "train/progress_animation.h"
#include "train/progress_text.h"
#include "train/run_report.h"

namespace acgan {
namespace {

OpenedBackend open_training_backend(const TrainRequest& request, Log& log,
                                    ProfilingBackend*& profile) {
  OpenedBackend opened = open_backend(backend_request(request.config));
  check_gpu_settings(request.config, opened, log);
  if (!request.profile) return opened;
  auto profiling = std::make_unique<ProfilingBackend>(std::move(opened.backend));
  profile = profiling.get();
  return {std::move(profiling), opened.why_not_cuda};
}

// A dry run writes nothing, a cache neither.
DataConfig data_config(const TrainRequest& request) {
  DataConfig config = request.config.data;
  if (request.dry_run) config.cache = false;
  return config;
}

}  // namespace

Training::Training(const TrainRequest& request, Log& log, const std::atomic<int>& signal_received)
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
      dataset_(load_dataset(data_config(request), seed_)),
      facts_((check_dataset(dataset_, config_.train.batch), facts_of(dataset_, config_))),
      feed_(*backend_, dataset_, config_.train.batch,
            total_bytes(plan_memory(step_options(config_, dataset_, compute_, seed_)))),
      step_(make_train_step(*backend_, step_options(config_, dataset_, compute_, seed_))),
      loader_(dataset_.count(), seed_),
      sampler_(step_.model().shape, step_.drawn_generator(), kSampleChunk),
      sample_z_(sample_latents(seed_, config_.output.rows, config_.model.latent_dim)),
      all_classes_(dataset_.class_names.size()),
      sample_schedule_(config_.output.sample_every, config_.output.sample_at),
      save_schedule_(config_.output.save_every),
      evaluate_schedule_(config_.output.evaluate_every),
      pipeline_(step_),
      writes_(config_.output.on_write_error, log),
      collapse_(dataset_.class_names, config_.train.batch) {
  step_.initialize(seed_);
  std::iota(all_classes_.begin(), all_classes_.end(), 0);
  if (resume_) load_resume_point();
  for (const auto& adam : step_.optimizers()) optimizer_states_.push_back(adam->read_state());
}

void Training::log_start() {
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
  if (const std::string note = rate_end_note(config_, progress_.step); !note.empty()) {
    log_.warn("{}", note);
  }
}

RunEnd Training::run() {
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

void Training::open_output() {
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
  open_events();
  sample(directory.fakes_init_file());
}

void Training::open_events() {
  if (!config_.output.tensorboard) return;
  const std::string folder = run_log_->directory().tensorboard_folder();
  writes_.run("tensorboard/",
              [&] { events_ = std::make_unique<EventLog>(folder, progress_.step); });
}

// As YAML, with the seed that was drawn.
std::string Training::effective_config() const {
  Config effective = config_;
  effective.train.seed = seed_;
  return dump_config(effective);
}

// Before the first step, so that what operations need for it is there when steps are captured.
void Training::prepare_evaluation() {
  log_.info("quality: preparing the feature net, which may take a minute the first time");
  evaluation_ = std::make_unique<Evaluation>(*backend_, config_.data, seed_);
  const QualityMeter& meter = evaluation_->meter();
  if (meter.real().fingerprint != facts_.fingerprint) {
    fail(ErrorKind::Data, "the data set ({}) changed while it was read: start again",
         dataset_.description);
  }
  if (!meter.net().origin.problem.empty()) {
    log_.warn("cache of feature nets: {}", meter.net().origin.problem);
  }
  log_.info("quality: {}", feature_net_text(meter));
  log_.info("quality: held out: {}", meter.real().held_out_source);
}

void Training::load_resume_point() {
  if (!resume_->checkpoint.has_checksum()) {
    log_.warn("{} has no checksum: damage to it could not be noticed",
              resume_->checkpoint.source());
  }
  load_state(resume_->checkpoint, step_, loader_, progress_, facts_);
  const bool had_average =
      weights_in(resume_->checkpoint, GeneratorWeights::Average) == GeneratorWeights::Average;
  if (had_average && step_.average() == nullptr) {
    log_.warn("train.ema is 0: the average that the run kept so far ends at step {}",
              progress_.step);
  } else if (!had_average && step_.average() != nullptr) {
    log_.info("train.ema: the average begins with the weights of step {}", progress_.step);
  }
  sample_schedule_.skip_to(progress_.elapsed_seconds);
  save_schedule_.skip_to(progress_.elapsed_seconds);
  evaluate_schedule_.skip_to(progress_.elapsed_seconds);
  saved_step_ = progress_.step;
  images_seen_ = static_cast<std::int64_t>(loader_.position().epoch) * dataset_.count() +
                 loader_.position().index;
}

void Training::go_on_in_directory() {
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
  const std::optional<std::int64_t> newest = directory.newest_step();
  if (newest && *newest > progress_.step) {
    log_.warn(
        "the steps after {} are run again; their rows in the logs are gone, their checkpoints and "
        "grids will be with the next one saved",
        progress_.step);
  }
  cut_unused_logs();
  take_best();
  open_events();
  resume_.reset();  // the training has it
}

// Those that this part of the run does not write must not speak of steps that are run again either.
void Training::cut_unused_logs() {
  const RunDirectory& directory = run_log_->directory();
  if (!evaluation_ && std::filesystem::exists(directory.metrics_file())) {
    Evaluation::cut_log(directory.metrics_file(), progress_.step);
  }
  const std::string events = directory.tensorboard_folder();
  if (config_.output.tensorboard || !std::filesystem::exists(events)) return;
  writes_.run("tensorboard/", [&] { EventLog(events, progress_.step).flush(); });
}

// What best.safetensors of a run that goes on is worth from here on.
void Training::take_best() {
  const std::string file = run_log_->directory().best_file();
  if (!std::filesystem::exists(file)) return;
  try {
    best_ = best_in(Checkpoint::load(file).texts());
  } catch (const Error& error) {
    log_.warn("{}; the next evaluation takes its place", error.what());
    return;
  }
  if (!best_) {
    log_.warn("{} does not say what it is the best by; the next evaluation takes its place", file);
  } else if (best_->step > progress_.step) {
    log_.warn("{} is of step {}, which is run again: it counts no more, and goes with the next {}",
              file, best_->step, "checkpoint saved or evaluation");
    best_is_void_ = true;
    best_.reset();
  } else {
    log_.info("best so far: {} {:.6g} at step {}", best_->by, best_->value, best_->step);
  }
}

// One step, one grid and one save in memory: what could fail later fails now.
void Training::dry_run() {
  RunDirectory::check_can_create(config_.output.dir);
  if (config_.output.evaluate_every > 0) {
    check_can_judge(load_real_data(data_config(request_), seed_));
  }
  start_step();
  check_finite(complete_step());
  step_.refresh_average();
  sampler_.generate_grid(sample_z_, all_classes_);
  const Checkpoint checkpoint =
      save_state(step_, loader_.position(), progress_, effective_config(), facts_);
  log_.info("memory after one step: {}", memory_text(step_.memory(), dataset_));
  log_.info("memory plan {}",
            memory_plan_text(step_.options(), half_type(config_.precision, *backend_)));
  log_.info("plan: {} a step, checkpoints of {}", flops_text(step_.step_flops()),
            bytes_text(checkpoint.byte_size()));
  log_.info("dry run: one step, one grid and one checkpoint done in memory; nothing was written");
}

void Training::finish() {
  const StepMetrics last = step_.read_metrics();
  if (!std::isfinite(last.d()) || !std::isfinite(last.g) || !std::isfinite(last.q())) {
    fail_nonfinite(fmt::format("at step {}, the last one, a loss is Inf or NaN", progress_.step));
  }
  if (saved_step_ != progress_.step) save();
  if (sampled_step_ != progress_.step) {
    sample(fakes_file());
  }
  const bool evaluation_is_wanted = evaluation_ && pipeline_.started() > 0 && signal_ == 0;
  if (evaluation_is_wanted && evaluated_step_ != progress_.step) evaluate();
  keep_if_best();
  if (events_) writes_.run("tensorboard/", [this] { events_->flush(); });
  if (pipeline_.started() == 0 && std::filesystem::exists(run_log_->directory().summary_file())) {
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
  draw_pictures();
  const double gflops =
      summary.median_batch_ms > 0 ? step_.step_flops() / summary.median_batch_ms * 1e-6 : 0.0;
  log_.info(
      "done: {} steps, {} of training ({}), median {:.1f} ms a step, {:.1f} images/s, {:.1f} "
      "GFLOP/s",
      summary.steps, duration_text(summary.seconds), summary.ended, summary.median_batch_ms,
      summary.images_per_second, gflops);
  log_.info("run directory: {}", run_log_->directory().path());
  if (best_) {
    log_.info("best {}: {:.6g} at step {}, {}", best_->by, best_->value, best_->step,
              run_log_->directory().best_file());
  }
  log_.info("newest grid: {}", last_grid_);
}

// What can be made again from the run's other files (`report`, `sample --animate`): a run that got
// this far does not fail for want of it.
void Training::draw_pictures() {
  const RunDirectory& directory = run_log_->directory();
  if (config_.output.animation) {
    try {
      const AnimationFacts facts = write_progress_animation(directory, directory.animation_file());
      if (!facts.left_out.empty()) log_.warn("animation: a grid was left out: {}", facts.left_out);
      log_.info("animation: {}; {} of {} grids", directory.animation_file(), facts.frames,
                facts.grids);
    } catch (const Error& error) {
      log_.warn("animation: not written: {}", error.what());
    }
  }
  if (!config_.output.report) return;
  try {
    check_can_draw();
  } catch (const Error& error) {
    log_.info("report: left out: {}", error.what());
    return;
  }
  try {
    write_run_report(directory);
    log_.info("report: {}", directory.report_file());
  } catch (const Error& error) {
    log_.warn("report: not written: {}", error.what());
  }
}

// As far as the disk still lets us; the error itself is what counts.
void Training::summarize_failure(const Error& error) {
  try {
    const bool is_nonfinite = error.kind() == ErrorKind::NonFinite;
    summarize(is_nonfinite ? "non-finite" : "error");
    if (is_nonfinite) draw_pictures();  // when and how it began shows in the curves
  } catch (const Error&) {
    log_.debug("summary.json could not be written");
  }
}

// Closes stats.jsonl and writes summary.json.
RunSummary Training::summarize(const std::string& ended) {
  run_log_->flush_interval();
  StepRecord start{
      .step = progress_.step, .images = images_seen_, .elapsed_seconds = progress_.elapsed_seconds};
  add_optimizer_states(start);
  RunSummary summary = run_log_->summarize(start);
  summary.sampling_seconds = sampling_seconds_;
  summary.saving_seconds = saving_seconds_;
  summary.evaluating_seconds = evaluating_seconds_;
  summary.startup_seconds = startup_seconds_;
  summary.device = backend_->name();
  summary.precision = config_.precision.mode == PrecisionMode::Mixed ? "mixed" : "fp32";
  summary.half = compute_ == DType::F32 ? "" : std::string(name_of(compute_));
  summary.ended = ended;
  summary.seed = seed_;
  if (best_) {
    summary.best_by = best_->by;
    summary.best_value = best_->value;
    summary.best_step = best_->step;
  }
  write_summary(run_log_->directory().summary_file(), summary);
  return summary;
}

}  // namespace acgan
