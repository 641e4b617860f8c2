#include "train/batch_advice.h"

#include "base/error.h"
#include "train/memory_plan.h"
#include "train/sampler.h"

namespace acgan {
namespace {

constexpr std::int64_t kSmallest = 2;  // batch norm cannot train on one image
// What operations take for themselves while they run, beside copies of the weights.
constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

std::size_t weight_bytes(const TrainStep& step) {
  std::size_t bytes = 0;
  for (const Network* network : step.model().networks()) bytes += network->parameters().bytes();
  return bytes;
}

bool can_allocate(Backend& backend, std::size_t bytes) {
  try {
    const Buffer probe(backend, bytes);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Device) throw;
    return false;
  }
}

// Throws Error{Device} where the smallest step does not fit.
std::optional<std::int64_t> search(Backend& backend, TrainStepOptions options) {
  const std::int64_t refused = options.batch;
  options.batch = 2 * kSmallest;
  const std::size_t twice = total_bytes(plan_memory(options));
  options.batch = kSmallest;
  const TrainStep smallest(backend, options);
  const Sampler sampler(smallest.model(), kSampleChunk);
  const std::size_t image_bytes = (twice - total_bytes(plan_memory(options))) / kSmallest;
  const std::size_t workspace = kWorkspaceBytes + weight_bytes(smallest);
  for (std::int64_t batch = refused / 2; batch >= kSmallest; batch /= 2) {
    const auto more = static_cast<std::size_t>(batch - kSmallest) * image_bytes;
    if (can_allocate(backend, more + more / 8 + workspace)) return batch;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> fitting_batch(Backend& backend, const TrainStepOptions& options) {
  try {
    return search(backend, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Device) throw;
    return std::nullopt;
  }
}

TrainStep make_train_step(Backend& backend, const TrainStepOptions& options) {
  std::string refusal;
  try {
    return TrainStep(backend, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Device) throw;
    refusal = error.what();
  }
  if (const auto batch = fitting_batch(backend, options)) {
    fail(ErrorKind::Device, "{}; --batch {} fits", refusal, *batch);
  }
  fail(ErrorKind::Device, "{}; no batch size fits: use a smaller model or data.image_size",
       refusal);
}

}  // namespace acgan
