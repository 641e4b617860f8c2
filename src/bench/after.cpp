#include "bench/after.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>

#include "base/atomic_file.h"
#include "base/error.h"
#include "bench/lane.h"
#include "quality/quality_meter.h"
#include "report/figure.h"
#include "train/evaluation.h"
#include "train/progress_text.h"
#include "train/sampler.h"
#include "train/train_setup.h"

namespace acgan {
namespace {

using Clock = std::chrono::steady_clock;

// Long against what changing lanes costs, short against drift.
constexpr double kBlockSeconds = 0.5;
constexpr double kLineIntervalSeconds = 10;

// 07m00s, 00m00.5s: part of file names.
std::string time_text(double minutes) {
  const double seconds = std::round(60e3 * minutes) / 1e3;
  const double whole = std::floor(seconds / 60);
  return fmt::format("{:02.0f}m{:02.6g}s", whole, seconds - 60 * whole);
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) fail(ErrorKind::Output, "cannot read {}, which was just written", path);
  return text.str();
}

// What the figures rest on.
std::string quality_note(QualityMeter& meter) {
  const QualityFigures& floor = meter.floor();
  return fmt::format(
      "{} fakes against {} held-out real images ({}), by a net that learnt from real images alone "
      "and is right about {:.1f} % of the held-out ones; the same figures of real images: "
      "classified right {:.1f}%, Frechet {:.2f}, kernel x1000 {:.2f}, precision {:.3f}, recall "
      "{:.3f}",
      meter.options().samples, floor.references, meter.real().held_out_source,
      100 * meter.net_accuracy().value_or(0), 100 * floor.class_accuracy.value_or(0),
      floor.frechet_distance, 1e3 * floor.kernel_distance.mean, floor.precision, floor.recall);
}

std::string right_text(const AfterRow& row) {
  if (!row.quality) return row.note.empty() ? "" : "; " + row.note;
  return fmt::format("; {:.0f} % classified right", 100 * row.quality->accuracy);
}

// Grids and figures of an earlier --after that this one did not write again.
void remove_older_pictures(const std::string& folder, const AfterResult& result) {
  static const std::regex kOurs(
      "(grid_(fp32|mixed_fp16|mixed_bf16)|figure_4)_[0-9]+m[0-9.]+s\\.png");
  std::set<std::string> kept;
  for (const AfterRow& row : result.rows) kept.insert(row.grid);
  for (const auto& [name, png] : result.figures) kept.insert(name);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (std::regex_match(name, kOurs) && !kept.contains(name)) {
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

class After {
 public:
  After(Backend& backend, const BenchData& data, const AfterRequest& request, QualityMeter& meter,
        Log& log, const std::atomic<int>& signal_received)
      : backend_(backend),
        data_(data),
        request_(request),
        meter_(meter),
        log_(log),
        signal_(signal_received) {
    const Config& config = request.config;
    latents_ =
        sample_latents(config.train.seed.value_or(1), config.output.rows, config.model.latent_dim);
    classes_.resize(data.dataset().class_names.size());
    std::iota(classes_.begin(), classes_.end(), 0);
    for (const PrecisionChoice& choice : request.choices) add_lane(choice);
  }

  AfterResult run();

 private:
  void add_lane(const PrecisionChoice& choice);
  void train_until(double seconds);
  void report();
  AfterRow row_of(Lane& lane, double minutes);
  void write_grid(Sampler& sampler, const AfterRow& row);
  AfterQuality quality_of(Sampler& sampler);
  std::pair<std::string, std::string> draw_figure(const std::vector<AfterRow>& rows) const;

  Backend& backend_;
  const BenchData& data_;
  const AfterRequest& request_;
  QualityMeter& meter_;
  Log& log_;
  const std::atomic<int>& signal_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<float> latents_;
  std::vector<std::int32_t> classes_;
  Clock::time_point last_line_ = Clock::now();
};

// Without those that compute as an earlier one does.
void After::add_lane(const PrecisionChoice& choice) {
  Config config = request_.config;
  config.precision.mode = choice.mode;
  config.precision.half = choice.half;
  const DType compute = compute_type(config.precision, backend_);
  if (std::ranges::any_of(lanes_, [&](const auto& lane) { return lane->compute() == compute; })) {
    return;
  }
  lanes_.push_back(std::make_unique<Lane>(backend_, data_, config));
}

AfterResult After::run() {
  const Dataset& dataset = data_.dataset();
  AfterResult result;
  result.batch = request_.config.train.batch;
  result.class_names = dataset.class_names;
  result.quality_note = quality_note(meter_);
  result.ended = kDone;
  for (const double minutes : request_.minutes) {
    train_until(60 * minutes);
    if (signal_ != 0) break;
    std::vector<AfterRow> rows;
    for (const auto& lane : lanes_) rows.push_back(row_of(*lane, minutes));
    result.figures.push_back(draw_figure(rows));
    log_.info("figure 4: {}/{}", request_.folder, result.figures.back().first);
    for (AfterRow& row : rows) result.rows.push_back(std::move(row));
  }
  if (signal_ != 0) result.ended = signal_name(signal_);
  if (!result.rows.empty()) remove_older_pictures(request_.folder, result);
  return result;
}

// The lane that is behind goes on, so that all have the same time behind them at any moment.
void After::train_until(double seconds) {
  const auto is_behind = [](const auto& a, const auto& b) { return a->seconds() < b->seconds(); };
  while (signal_ == 0) {
    Lane& lane = **std::ranges::min_element(lanes_, is_behind);
    const double left = seconds - lane.seconds();
    if (left <= 0) return;
    lane.measure_for(std::min(left, kBlockSeconds));
    report();
  }
}

void After::report() {
  const bool is_line_due =
      std::chrono::duration<double>(Clock::now() - last_line_).count() >= kLineIntervalSeconds;
  if (!log_.is_live() && !is_line_due) return;
  double left = 0;
  std::string line;
  for (const auto& lane : lanes_) {
    left += std::max(0.0, 60 * request_.minutes.back() - lane->seconds());
    line +=
        fmt::format("{}{}: step {}, {}", line.empty() ? "" : "  ", precision_label(lane->compute()),
                    lane->steps(), duration_text(lane->seconds()));
  }
  line += fmt::format("  {} to go", duration_text(left));
  log_.progress(line);
  if (log_.is_live() || !is_line_due) return;
  last_line_ = Clock::now();
  log_.info("{}", line);
}

AfterRow After::row_of(Lane& lane, double minutes) {
  const StepMetrics& metrics = lane.metrics();
  const bool is_half = lane.compute() != DType::F32;
  AfterRow row{.precision = is_half ? "mixed" : "fp32",
               .half = is_half ? std::string(name_of(lane.compute())) : "",
               .minutes = minutes,
               .seconds = lane.seconds(),
               .step = lane.steps(),
               .images = lane.steps() * request_.config.train.batch,
               .d_loss = metrics.d(),
               .g_loss = metrics.g,
               .q_loss = metrics.q(),
               .accuracy_real = metrics.accuracy_real,
               .accuracy_fake = metrics.accuracy_fake,
               .skipped = lane.skipped(),
               .quality = std::nullopt,
               .grid = {},
               .note = lane.is_diverging() ? "the training went non-finite" : "",
               .diverged = lane.is_diverging()};
  row.grid = fmt::format("grid_{}_{}.png", is_half ? row.precision + "_" + row.half : row.precision,
                         time_text(minutes));
  const TrainStep& step = lane.step();
  step.refresh_average();
  Sampler sampler(step.model().shape, step.drawn_generator(), kSampleChunk);
  write_grid(sampler, row);
  if (!lane.is_diverging()) row.quality = quality_of(sampler);
  log_.info("{} after {}: step {}, {} images, d {:.3f}, g {:.3f}, q {:.3f}{}", row.label(),
            duration_text(row.seconds), row.step, row.images, row.d_loss, row.g_loss, row.q_loss,
            right_text(row));
  return row;
}

AfterQuality After::quality_of(Sampler& sampler) {
  const QualityFigures figures =
      meter_.measure(fakes_from(sampler, request_.config.model.latent_dim, meter_.options().seed));
  return {.accuracy = figures.class_accuracy.value_or(0),
          .frechet = figures.frechet_distance,
          .kernel = figures.kernel_distance.mean,
          .precision = figures.precision,
          .recall = figures.recall,
          .diversity = figures.diversity.value_or(0)};
}

void After::write_grid(Sampler& sampler, const AfterRow& row) {
  const Dataset& dataset = data_.dataset();
  const std::vector<std::uint8_t> pixels = sampler.generate_grid(latents_, classes_);
  write_png(
      request_.folder + "/" + row.grid,
      make_grid(pixels, request_.config.output.rows, static_cast<std::int64_t>(classes_.size()),
                dataset.height, dataset.width, dataset.channels));
}

std::pair<std::string, std::string> After::draw_figure(const std::vector<AfterRow>& rows) const {
  const Dataset& dataset = data_.dataset();
  constexpr std::int64_t kGap = 2;  // pixels between the tiles of a grid
  const auto columns = static_cast<std::int64_t>(classes_.size());
  const double minutes = rows.front().minutes;
  PictureStrip strip{.title = fmt::format("Figure 4: after {} of training, batch {}",
                                          duration_text(60 * minutes), request_.config.train.batch),
                     .panels = {},
                     .column_names = dataset.class_names};
  for (const AfterRow& row : rows) {
    strip.panels.push_back(
        {.title = row.label(),
         .subtitle = fmt::format("{} steps, losses d {:.2f}, g {:.2f}, q {:.2f}{}", row.step,
                                 row.d_loss, row.g_loss, row.q_loss, right_text(row)),
         .png = contents_of(request_.folder + "/" + row.grid),
         .height = static_cast<int>((dataset.height + kGap) * request_.config.output.rows + kGap),
         .width = static_cast<int>((dataset.width + kGap) * columns + kGap)});
  }
  std::string name = fmt::format("figure_4_{}.png", time_text(minutes));
  std::string png = draw_png(strip);
  write_file_atomically(request_.folder + "/" + name, std::string_view(png));
  return {std::move(name), std::move(png)};
}

}  // namespace

AfterResult run_after(Backend& backend, const BenchData& data, const AfterRequest& request,
                      QualityMeter& meter, Log& log, const std::atomic<int>& signal_received) {
  return After(backend, data, request, meter, log, signal_received).run();
}

}  // namespace acgan
