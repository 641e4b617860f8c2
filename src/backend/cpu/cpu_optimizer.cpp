#include <atomic>
#include <bit>
#include <cmath>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/parallel.h"
#include "backend/ema_weight.h"

namespace acgan {
namespace {

using cpu::Float8;

// One optimizer that takes part in an update.
struct ActiveMoments {
  const float* gradient;
  float *m, *v;
  float loss_scale;
  float step_size;  // learning rate with both bias corrections
};

std::vector<ActiveMoments> active_moments(const AdamUpdate& update) {
  const Shape& shape = update.master.shape;
  std::vector<ActiveMoments> active;
  for (const AdamMoments& moments : update.optimizers) {
    ACGAN_CHECK(moments.state != nullptr && moments.gradient.shape == shape);
    ACGAN_CHECK(moments.m.shape == shape && moments.v.shape == shape);
    const OptimizerState& state = *moments.state;
    if (state.nonfinite != 0) continue;
    const double beta1_power = state.beta1_power * double{update.constants.beta1};
    const double beta2_power = state.beta2_power * double{update.constants.beta2};
    const double step_size =
        double{state.learning_rate} * std::sqrt(1.0 - beta2_power) / (1.0 - beta1_power);
    active.push_back({moments.gradient.as<float>(), moments.m.as<float>(), moments.v.as<float>(),
                      state.loss_scale, static_cast<float>(step_size)});
  }
  return active;
}

// One pass over everything, since only memory traffic counts: 28 bytes an element for one
// optimizer, 20 more for the next, plus the working copy.
template <typename Working>
void update_parameters(int threads, const AdamUpdate& update,
                       const std::vector<ActiveMoments>& active, Working* working) {
  const float beta1 = update.constants.beta1, beta2 = update.constants.beta2;
  const float epsilon = update.constants.epsilon;
  float* master = update.master.as<float>();
  const auto element = [=, &active](std::int64_t i, auto lanes) {
    Float8 parameter = cpu::load(master + i, lanes);
    for (const ActiveMoments& moments : active) {
      const Float8 g = cpu::load(moments.gradient + i, lanes) / moments.loss_scale;
      const Float8 m = beta1 * cpu::load(moments.m + i, lanes) + (1.0f - beta1) * g;
      const Float8 v = beta2 * cpu::load(moments.v + i, lanes) + (1.0f - beta2) * (g * g);
      cpu::store(moments.m + i, m, lanes);
      cpu::store(moments.v + i, v, lanes);
      parameter -= moments.step_size * m / (cpu::square_root(v) + epsilon);
    }
    cpu::store(master + i, parameter, lanes);
    if (working != nullptr) cpu::store(working + i, parameter, lanes);
  };
  cpu::for_each_vector(threads, update.master.count(), element);
}

// Told from the exponent's bits, which no compiler option may reason away.
bool has_nonfinite(const float* values, std::int64_t count) {
  std::int32_t found = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t exponent = std::bit_cast<std::int32_t>(values[i]) & 0x7f800000;
    found |= exponent == 0x7f800000 ? 1 : 0;
  }
  return found != 0;
}

}  // namespace

void CpuBackend::flag_nonfinite(const Tensor& gradient, OptimizerState* state) {
  const float* values = gradient.as<float>();
  std::atomic<bool> found = false;
  cpu::for_each_piece(threads(), gradient.count(), [&](std::int64_t begin, std::int64_t end) {
    if (found.load(std::memory_order_relaxed)) return;
    if (has_nonfinite(values + begin, end - begin)) found.store(true, std::memory_order_relaxed);
  });
  if (found.load()) state->nonfinite = 1;
}

void CpuBackend::adam_step(const AdamUpdate& update) {
  const std::vector<ActiveMoments> active = active_moments(update);
  if (active.empty()) return;
  if (!update.working) return update_parameters<float>(threads(), update, active, nullptr);
  ACGAN_CHECK(update.working.shape == update.master.shape);
  visit_dtype(update.working.dtype, [&]<typename Working>(Working) {
    update_parameters(threads(), update, active, update.working.as<Working>());
  });
}

void CpuBackend::ema_step(const EmaUpdate& update) {
  ACGAN_CHECK(update.state != nullptr && update.value.shape == update.average.shape);
  if (update.state->nonfinite != 0) return;
  const float weight = ema_weight(*update.state, update.decay, update.ramp_up);
  const float* value = update.value.as<float>();
  float* average = update.average.as<float>();
  cpu::for_each_vector(threads(), update.value.count(), [=](std::int64_t i, auto lanes) {
    const Float8 before = cpu::load(average + i, lanes);
    cpu::store(average + i, before + weight * (cpu::load(value + i, lanes) - before), lanes);
  });
}

}  // namespace acgan
