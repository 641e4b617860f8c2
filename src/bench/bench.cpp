#include "bench/bench.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>

#include "base/error.h"
#include "bench/after.h"
#include "bench/bench_files.h"
#include "bench/bench_table.h"
#include "bench/floors.h"
#include "bench/lane.h"
#include "bench/output_folder.h"
#include "bench/profile.h"
#include "bench/profile_run.h"
#include "bench/report.h"
#include "bench/step_operations.h"
#include "config/load_config.h"
#include "quality/quality_meter.h"
#include "report/figure.h"
#include "train/progress_text.h"
#include "train/train_setup.h"

namespace acgan {
namespace {

constexpr int kSignalExit = 128;  // + the signal's number

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof("2000-01-01T00:00:00Z")];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void log_start(const OpenedBackend& opened, const BenchData& data, Log& log) {
  log.info("device: {}", opened.backend->description());
  if (!opened.why_not_cuda.empty()) {
    log.info("device: auto took the CPU: {}", opened.why_not_cuda);
  }
  const Dataset& dataset = data.dataset();
  log.info("data: {}; {} images {}x{}x{}", dataset.description, dataset.count(), dataset.height,
           dataset.width, dataset.channels);
}

void log_plan(const SweepRequest& sweep, Log& log) {
  const double most =
      static_cast<double>(sweep.batches.size() * sweep.choices.size()) * sweep.limits.max_seconds;
  log.info(
      "measuring: batch {}; each row until its median is known to +-{:g}%, from {:g} to {:g} "
      "s; at most {} beside the warm-up",
      fmt::join(sweep.batches, ", "), 100 * sweep.limits.spread, sweep.limits.min_seconds,
      sweep.limits.max_seconds, duration_text(most));
}

// Where nothing fits there is nothing to show.
void check_any_measured(const SweepResult& result) {
  const auto is_measured = [](const BenchRow& row) { return row.is_measured(); };
  if (result.ended != kDone || result.rows.empty()) return;
  if (std::ranges::any_of(result.rows, is_measured)) return;
  const BenchRow& row = result.rows.front();
  const bool is_data = row.ended_by == "exceeds the data set";
  fail(is_data ? ErrorKind::Data : ErrorKind::Device,
       "no batch size could be measured; batch {}: {}: {}", row.batch, row.ended_by, row.note);
}

// What can be said before anything is measured.
BenchContext context_of(const BenchRequest& request, const Backend& backend,
                        const BenchData& data) {
  const Config& config = request.sweep.config;
  return {.program = request.program,
          .command = request.command,
          .config_name = config.name,
          .config = dump_config(config),
          .data = data.dataset().description,
          .began = utc_now(),
          .machine = describe_machine(backend),
          .limits = request.sweep.limits,
          .price = {}};
}

// After everything is written: what was measured is no training.
template <typename Row>
void check_finite(const std::vector<Row>& rows) {
  const auto row = std::ranges::find_if(rows, &Row::diverged);
  if (row == rows.end()) return;
  fail(ErrorKind::NonFinite, "{} went non-finite: try a lower learning rate", row->label());
}

void report_where_asked(const BenchRequest& request, const std::vector<BenchDocument>& documents,
                        Log& log) {
  if (!request.report) return;
  const std::vector<std::string> names = write_report(*request.report, documents);
  log.info("report: {}/{}; other files there: {}", *request.report, names.back(), names.size() - 1);
}

void measure_sweep(const BenchRequest& request, Log& log, const std::atomic<int>& signal_received) {
  check_bench_folder(request.outdir);
  if (request.report) check_report_folder(*request.report);
  const std::vector<GpuPrice> prices = price_list_for(request.price);
  const Config& config = request.sweep.config;
  const OpenedBackend opened = open_device(config, log);
  const BenchData data(*opened.backend, load_dataset(config.data, config.train.seed.value_or(1)));
  BenchContext context = context_of(request, *opened.backend, data);
  log_start(opened, data, log);
  const PriceFinding price = find_price_for(request.price, prices, context.machine.device);
  if (price.per_hour) context.price = price.origin;
  log.info("price: {}", price.origin);
  log_plan(request.sweep, log);

  SweepResult result = run_sweep(*opened.backend, data, request.sweep, log, signal_received);
  check_any_measured(result);
  add_costs(result.rows, price.per_hour, request.price.minutes);
  if (result.rows.empty()) {
    log.info("{}: nothing was measured, nothing is written", result.ended);
  } else {
    log.info("{}", bench_table(result.rows, request.sweep.limits));
    const BenchDocument document{
        .context = std::move(context), .result = std::move(result), .after = {}};
    write_bench_files(request.outdir, document);
    log.info("written: {0}/{1}, {0}/{2}", request.outdir, kBenchCsvName, kBenchJsonName);
    report_where_asked(request, {document}, log);
    check_finite(document.result.rows);
  }
}

void measure_after(const BenchRequest& request, Log& log, const std::atomic<int>& signal_received) {
  check_after_folder(request.outdir);
  if (request.report) check_report_folder(*request.report);
  check_can_draw();
  Config config = request.sweep.config;
  config.train.batch = request.sweep.batches.front();
  const OpenedBackend opened = open_device(config, log);
  const BenchData data(*opened.backend, load_dataset(config.data, config.train.seed.value_or(1)));
  check_dataset(data.dataset(), config.train.batch);
  log_start(opened, data, log);
  make_output_folder(request.outdir, "--outdir");
  // Before the first step, so that what operations need for it is there when steps are captured.
  log.info("quality: preparing the feature net, which may take a minute the first time");
  QualityMeter meter(*opened.backend, load_real_data(config.data, config.train.seed.value_or(1)),
                     {});
  BenchDocument document{.context = context_of(request, *opened.backend, data),
                         .result = {},
                         .after = run_after(*opened.backend, data,
                                            {.config = config,
                                             .choices = request.sweep.choices,
                                             .minutes = request.after_minutes,
                                             .folder = request.outdir},
                                            meter, log, signal_received)};
  document.result.ended = document.after.ended;
  if (document.after.rows.empty()) {
    log.info("{}: no time was reached, nothing is written", document.after.ended);
    return;
  }
  log.info("{}", after_table(document.after));
  write_after_file(request.outdir, document);
  log.info("written: {}/{}", request.outdir, kAfterJsonName);
  report_where_asked(request, {document}, log);
  check_finite(document.after.rows);
}

void merge(const BenchRequest& request, Log& log) {
  check_report_folder(*request.report);
  std::vector<BenchDocument> documents;
  std::set<std::string> seen;
  for (const std::string& path : request.merged) {
    documents.push_back(read_bench_file(path));
    if (seen.insert(bench_json(documents.back())).second) continue;
    fail(ErrorKind::Usage, "--merge: {} holds the same result as a file before it: give each once",
         path);
  }
  report_where_asked(request, documents, log);
}

// Without a device there is no automatic 16-bit type but the GPU's.
DType compute_without_device(const PrecisionChoice& choice) {
  if (choice.mode == PrecisionMode::Fp32) return DType::F32;
  return choice.half == HalfType::Bf16 ? DType::BF16 : DType::F16;
}

void print_floors(const BenchRequest& request, Log& log) {
  Config config = request.sweep.config;
  const Dataset dataset = load_dataset(config.data, config.train.seed.value_or(1));
  for (const std::int64_t batch : request.sweep.batches) {
    config.train.batch = batch;
    for (const PrecisionChoice& choice : request.sweep.choices) {
      const DType compute = compute_without_device(choice);
      const auto operations = step_operations(step_options(config, dataset, compute, 1));
      log.info("batch {}, {}\n{}", batch, precision_label(compute),
               floors_table(operations, compute, request.peaks));
    }
  }
  for (const Peak& peak : request.peaks) {
    log.info("{}: {:g} TFLOP/s in 16 bits, {:g} in fp32, {:g} GB/s", peak.name, peak.tflops_half,
             peak.tflops_fp32, peak.gbs);
  }
  log.info(
      "us: microseconds in a step at least, bound by c, computing, or m, memory; MFLOP: of "
      "convolutions and dense layers; MiB: every array of a call once, and twice what is added to");
}

void print_profiles(const BenchRequest& request, Log& log,
                    const std::atomic<int>& signal_received) {
  log.info("device: {}", open_device(request.sweep.config, log).backend->description());
  for (const std::int64_t batch : request.sweep.batches) {
    const auto profiles = profile_batch(request.sweep, batch, log, signal_received);
    if (signal_received != 0) return;
    log.info("batch {}, of a step (mean of {})\n{}", batch, profiles.front().steps,
             profile_table(profiles));
  }
  log.info(
      "waiting after each operation costs overlap: shares hold, the sum is an upper bound; faster: "
      "than in the first precision; sampling: a grid every {:g} minutes, as a share of each step",
      request.sweep.config.output.sample_every);
}

}  // namespace

int run_bench(const BenchRequest& request, Log& log, const std::atomic<int>& signal_received) {
  switch (request.mode) {
    case BenchMode::Sweep:
      measure_sweep(request, log, signal_received);
      break;
    case BenchMode::Floors:
      print_floors(request, log);
      break;
    case BenchMode::Profile:
      print_profiles(request, log, signal_received);
      break;
    case BenchMode::After:
      measure_after(request, log, signal_received);
      break;
    case BenchMode::Merge:
      merge(request, log);
      break;
  }
  return signal_received == 0 ? 0 : kSignalExit + signal_received;
}

}  // namespace acgan
