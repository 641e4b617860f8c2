#include "cli/bench_command.h"

#include "cli/signal_guard.h"

namespace acgan {

int run_bench_command(const BenchCommand& command) {
  const SignalGuard guard;
  BenchRequest request = command.request;
  request.sweep.config = load_config(command.config_path, command.overrides);
  if (request.sweep.batches.empty()) {
    request.sweep.batches.push_back(request.sweep.config.train.batch);
  }
  Log log(command.verbosity);
  return run_bench(request, log, guard.received());
}

}  // namespace acgan
