#include "cli/bench_command.h"

#include "cli/signal_guard.h"
#include "train/train_setup.h"

namespace acgan {

int run_bench_command(const BenchCommand& command) {
  const SignalGuard guard;
  BenchRequest request = command.request;
  Log log(command.verbosity);
  if (request.mode == BenchMode::Merge) return run_bench(request, log, guard.received());
  request.sweep.config = load_config(command.config_path, command.overrides);
  if (request.sweep.batches.empty()) {
    request.sweep.batches.push_back(request.sweep.config.train.batch);
  }
  if (command.half_from_config) {
    for (PrecisionChoice& choice : request.sweep.choices) {
      choice.half = request.sweep.config.precision.half;
    }
  }
  Config& config = request.sweep.config;
  config.train.seed = choose_seed(config, std::nullopt, log);
  log.info("seed: {}", *config.train.seed);
  return run_bench(request, log, guard.received());
}

}  // namespace acgan
