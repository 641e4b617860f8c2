#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "train/first_nonfinite.h"
#include "train/progress_text.h"
#include "train/training.h"

namespace acgan {
namespace {

constexpr double kStatsIntervalSeconds = 10;
constexpr double kLiveIntervalSeconds = 0.2;

}  // namespace

void Training::train() {
  while (!time_is_up() && signal_ == 0) {
    start_step();
    complete_steps(StepPipeline::kDepth - 1);
    const bool sample_is_due = sample_schedule_.due(progress_.elapsed_seconds);
    save_is_due_ |= save_schedule_.due(progress_.elapsed_seconds);
    const bool evaluation_is_due = evaluate_schedule_.due(progress_.elapsed_seconds);
    if (sample_is_due || save_is_due_ || evaluation_is_due) complete_steps(0);
    if (sample_is_due) writes_.run("the sample grid", [this] { sample(fakes_file()); });
    if (save_is_due_ && !is_skipping()) {
      save_is_due_ = false;
      writes_.run("the checkpoint", [this] { save(); });
    }
    if (evaluation_is_due) writes_.run("the quality figures", [this] { evaluate(); });
    if (candidate_) writes_.run("the best checkpoint", [this] { keep_if_best(); });
  }
  complete_steps(0);
}

void Training::start_step() {
  pipeline_.resting_if_idle();
  std::vector<std::int32_t> indices(static_cast<std::size_t>(config_.train.batch));
  try {
    step_.load_step([&] {
      loader_.next(indices);
      feed_.load(step_, indices);
    });
    pipeline_.start();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Device || pipeline_.started() != 0 || config_.train.batch < 4) {
      throw;
    }
    // Everything but the working memory of operations was there.
    fail(ErrorKind::Device, "{}; --batch {} fits", error.what(), config_.train.batch / 2);
  }
}

// Waits for the oldest step under way.
StepRecord Training::complete_step() {
  const auto [outcome, seconds] = pipeline_.complete();
  const StepMetrics& metrics = outcome.metrics;
  optimizer_states_ = outcome.optimizers;

  ++progress_.step;
  progress_.elapsed_seconds += seconds;
  const std::int64_t images = config_.train.batch * config_.train.d_steps;
  images_seen_ += images;
  StepRecord record{.step = progress_.step,
                    .images = images_seen_,
                    .elapsed_seconds = progress_.elapsed_seconds,
                    .batch_ms = 1e3 * seconds,
                    .images_per_second = static_cast<double>(images) / seconds,
                    .d_loss = metrics.d(),
                    .g_loss = metrics.g,
                    .q_loss = metrics.q(),
                    .accuracy_real = metrics.accuracy_real,
                    .accuracy_fake = metrics.accuracy_fake};
  add_optimizer_states(record);
  return record;
}

// Logs and checks what is done, and waits until no more than `still_under_way` are not.
void Training::complete_steps(std::size_t still_under_way) {
  while (pipeline_.under_way() > 0 &&
         (pipeline_.under_way() > still_under_way || pipeline_.is_oldest_ready())) {
    const StepRecord record = complete_step();
    collapse_.add(record);
    writes_.run("timing.csv", [&] { run_log_->add(record); });
    if (events_) writes_.run("tensorboard/", [&] { events_->add(record); });
    report(record);
    check_finite(record);
  }
}

void Training::add_optimizer_states(StepRecord& record) const {
  for (std::size_t i = 0; i < optimizer_states_.size(); ++i) {
    record.loss_scale[i] = optimizer_states_[i].loss_scale;
    record.skipped[i] = optimizer_states_[i].skipped;
  }
}

void Training::check_finite(const StepRecord& record) {
  for (std::size_t i = 0; i < optimizer_states_.size(); ++i) {
    const OptimizerState& state = optimizer_states_[i];
    if (state.consecutive_skips <= config_.precision.max_consecutive_skips) continue;
    fail_nonfinite(fmt::format(
        "at step {} the gradients of optimizer {} were Inf or NaN in {} steps one after the other "
        "(loss scale {})",
        record.step, step_.optimizers()[i]->name(), state.consecutive_skips, state.loss_scale));
  }
}

void Training::fail_nonfinite(const std::string& what) {
  while (pipeline_.under_way() > 0) pipeline_.complete();
  const std::string place = first_nonfinite(step_);
  std::string kept = "no checkpoint was written yet";
  if (run_log_ && !run_log_->directory().checkpoints().empty()) {
    kept = "the last good checkpoint is " + run_log_->directory().checkpoints().front();
  }
  const char* const advice = compute_ == DType::F32 ? "" : " or --precision fp32";
  fail(ErrorKind::NonFinite, "training went non-finite: {}; {}{}{}; try a lower learning rate{}",
       what, place, place.empty() ? "" : "; ", kept, advice);
}

// Weights from which no step succeeds may be lost already: they must not take a good checkpoint's
// place.
bool Training::is_skipping() const {
  return std::any_of(optimizer_states_.begin(), optimizer_states_.end(),
                     [](const OptimizerState& state) { return state.consecutive_skips > 0; });
}

bool Training::time_is_up() const {
  const TrainConfig& train = config_.train;
  const auto under_way = static_cast<std::int64_t>(pipeline_.under_way());
  return (train.steps > 0 && progress_.step + under_way >= train.steps) ||
         (train.minutes > 0 && progress_.elapsed_seconds >= 60 * train.minutes);
}

// The live line on a terminal, plain lines and stats.jsonl at intervals.
void Training::report(const StepRecord& record) {
  const double now = seconds_since(start_);
  if (log_.is_live() && now - last_live_ >= kLiveIntervalSeconds) {
    last_live_ = now;
    log_.progress(progress_line(record, config_.train));
  }
  if (now - last_stats_ >= kStatsIntervalSeconds || time_is_up()) {
    last_stats_ = now;
    if (!log_.is_live() || time_is_up()) log_.info("{}", progress_line(record, config_.train));
    writes_.run("stats.jsonl", [this] { run_log_->flush_interval(); });
  }
}

std::string Training::fakes_file() const {
  return run_log_->directory().fakes_file(progress_.step, progress_.elapsed_seconds);
}

void Training::sample(const std::string& path) {
  const Stopwatch watch(sampling_seconds_);
  step_.refresh_average();
  const std::vector<std::uint8_t> pixels = sampler_.generate_grid(sample_z_, all_classes_);
  const Picture grid = make_grid(pixels, config_.output.rows, step_.options().shape.classes,
                                 dataset_.height, dataset_.width, dataset_.channels);
  write_png(path, grid);
  if (events_) writes_.run("tensorboard/", [&] { events_->add_grid(progress_.step, grid); });
  sampled_step_ = progress_.step;
  last_grid_ = path;
  log_.info("samples: {}", path);
  for (const std::string& sentence : collapse_.check(pixels, config_.output.rows)) {
    log_.warn(
        "at step {} {}: the generator may have collapsed; an earlier checkpoint and a lower "
        "learning rate of d may help",
        progress_.step, sentence);
  }
}

void Training::save() {
  const Stopwatch watch(saving_seconds_);
  const std::string path = run_log_->directory().checkpoint_file(progress_.step);
  save_state(step_, loader_.position(), progress_, effective_config(), facts_).save(path);
  if (best_is_void_) {
    run_log_->directory().remove_best();
    best_is_void_ = false;
  }
  run_log_->directory().prune(progress_.step, config_.output.keep);
  saved_step_ = progress_.step;
  log_.info("checkpoint: {}", path);
}

void Training::evaluate() {
  const Stopwatch watch(evaluating_seconds_);
  step_.refresh_average();
  const GeneratorWeights weights =
      step_.average() != nullptr ? GeneratorWeights::Average : GeneratorWeights::Live;
  const QualityFigures figures =
      evaluation_->run(sampler_, config_.model.latent_dim, weights, progress_);
  evaluated_step_ = progress_.step;
  const QualityMeter& meter = evaluation_->meter();
  log_.info("quality: {}", quality_line(figures, meter.floor()));
  candidate_ = judged_by(config_.output, figures, meter.net().id, progress_.step);
  if (events_) {
    writes_.run("tensorboard/", [&] { events_->add_quality(progress_.step, figures); });
  }
}

// The state that was just evaluated, where it is better than all before.
void Training::keep_if_best() {
  const std::optional<BestEvaluation> candidate = std::exchange(candidate_, std::nullopt);
  if (!candidate || !std::isfinite(candidate->value)) return;
  const std::string path = run_log_->directory().best_file();
  std::string before;
  if (best_ && are_comparable(*candidate, *best_)) {
    if (!is_better(*candidate, *best_)) return;
    before = fmt::format(", before {:.6g} at step {}", best_->value, best_->step);
  } else if (best_) {
    log_.warn("{} was the best by {} ({}), which cannot be compared with {} ({}): it is replaced",
              path, best_->by, best_->ruler, candidate->by, candidate->ruler);
  }
  const Stopwatch watch(saving_seconds_);
  Checkpoint checkpoint =
      save_state(step_, loader_.position(), progress_, effective_config(), facts_);
  mark_best(*candidate, checkpoint);
  checkpoint.save(path);
  best_ = candidate;
  best_is_void_ = false;
  log_.info("best {} so far: {:.6g}{}; kept as {}", best_->by, best_->value, before, path);
}

}  // namespace acgan
