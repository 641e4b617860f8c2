#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/ema_weight.h"
#include "backend/finish_step.h"
#include "cuda/kernels.h"
#include "cuda/tile/vector_access.cuh"

namespace acgan::cuda {
namespace {

constexpr int kMaximumOptimizers = 4;  // that share one parameter array
constexpr int kWidth = kVectorWidth<float>;
// Enough blocks to fill every GPU; more would only repeat what a block does before it starts.
constexpr unsigned kMaximumBlocks = 1024;

dim3 strided_grid(std::int64_t count, int per_thread) {
  dim3 grid = elementwise_grid(count, per_thread);
  grid.x = std::min(grid.x, kMaximumBlocks);
  return grid;
}

// body(i, Constant<n>) over this thread's share of a grid that is smaller than the array.
template <int kVector, typename Body>
__device__ __forceinline__ void for_strided_elements(std::int64_t count, const Body& body) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t vectors = count / kVector;
  for (std::int64_t i = global_index(); i < vectors; i += stride) {
    body(i * kVector, Constant<kVector>{});
  }
  const std::int64_t rest = vectors * kVector + global_index();
  if (kVector > 1 && rest < count) body(rest, Constant<1>{});
}

template <int kVector>
__global__ void flag_nonfinite_kernel(const float* gradient, std::int64_t count,
                                      OptimizerState* state) {
  bool nonfinite = false;
  for_strided_elements<kVector>(count, [&]<int n>(std::int64_t i, Constant<n>) {
    float value[n];
    load(gradient + i, value);
#pragma unroll
    for (int v = 0; v < n; ++v) {
      nonfinite = nonfinite || !(std::fabs(value[v]) <= std::numeric_limits<float>::max());
    }
  });
  const int any = __syncthreads_or(nonfinite ? 1 : 0);
  if (threadIdx.x == 0 && any != 0) atomicOr(&state->nonfinite, 1);
}

struct MomentArrays {
  const float* gradient;
  float* m;
  float* v;
  const OptimizerState* state;
};

struct AdamArrays {
  float* master;
  void* working;
  MomentArrays optimizers[kMaximumOptimizers];
  int optimizer_count;
  std::int64_t count;
  AdamConstants constants;
};

struct MomentStep {
  float loss_scale;
  float step_size;  // learning rate with both bias corrections
  int applies;
};

// In double as on every backend: one thread of a block for each optimiser.
__device__ __forceinline__ MomentStep prepare(const OptimizerState& state,
                                              const AdamConstants& constants) {
  const double beta1_power = state.beta1_power * double{constants.beta1};
  const double beta2_power = state.beta2_power * double{constants.beta2};
  const double step_size =
      double{state.learning_rate} * std::sqrt(1.0 - beta2_power) / (1.0 - beta1_power);
  return {state.loss_scale, static_cast<float>(step_size), state.nonfinite == 0 ? 1 : 0};
}

template <int n>
__device__ __forceinline__ void apply(const MomentArrays& arrays, const MomentStep& step,
                                      const AdamConstants& constants, std::int64_t i,
                                      float (&parameter)[n]) {
  float g[n], m[n], v[n];
  load(arrays.gradient + i, g);
  load(arrays.m + i, m);
  load(arrays.v + i, v);
#pragma unroll
  for (int e = 0; e < n; ++e) {
    g[e] /= step.loss_scale;
    m[e] = constants.beta1 * m[e] + (1.0f - constants.beta1) * g[e];
    v[e] = constants.beta2 * v[e] + (1.0f - constants.beta2) * (g[e] * g[e]);
    parameter[e] -= step.step_size * m[e] / (std::sqrt(v[e]) + constants.epsilon);
  }
  store(arrays.m + i, m);
  store(arrays.v + i, v);
}

template <typename Working, int kVector>  // Working: void where the master copy is used itself
__global__ void __launch_bounds__(kElementwiseThreads) adam_step_kernel(AdamArrays arrays) {
  using Steps = MomentStep[kMaximumOptimizers];
  SHARED(Steps, steps);
  int applies = 0;
  if (threadIdx.x < static_cast<unsigned>(arrays.optimizer_count)) {
    steps[threadIdx.x] = prepare(*arrays.optimizers[threadIdx.x].state, arrays.constants);
    applies = steps[threadIdx.x].applies;
  }
  if (__syncthreads_or(applies) == 0) return;
  for_strided_elements<kVector>(arrays.count, [&]<int n>(std::int64_t i, Constant<n>) {
    float parameter[n];
    load(arrays.master + i, parameter);
    for (int o = 0; o < arrays.optimizer_count; ++o) {
      if (steps[o].applies != 0) {
        apply(arrays.optimizers[o], steps[o], arrays.constants, i, parameter);
      }
    }
    store(arrays.master + i, parameter);
    if constexpr (!std::is_void_v<Working>) {
      store(static_cast<Working*>(arrays.working) + i, parameter);
    }
  });
}

template <typename Working>
void launch_adam(const AdamArrays& arrays, bool vectors, Stream stream) {
  launch(vectors ? adam_step_kernel<Working, kWidth> : adam_step_kernel<Working, 1>,
         strided_grid(arrays.count, vectors ? kWidth : 1), kElementwiseBlock, 0, stream, arrays);
}

struct EmaArrays {
  const float* value;
  float* average;
  std::int64_t count;
  float decay, ramp_up;
  const OptimizerState* state;
};

template <int kVector>
__global__ void ema_step_kernel(EmaArrays arrays) {
  if (arrays.state->nonfinite != 0) return;
  SHARED(float, weight);
  if (threadIdx.x == 0) weight = ema_weight(*arrays.state, arrays.decay, arrays.ramp_up);
  __syncthreads();
  for_strided_elements<kVector>(arrays.count, [&]<int n>(std::int64_t i, Constant<n>) {
    float value[n], average[n];
    load(arrays.value + i, value);
    load(arrays.average + i, average);
#pragma unroll
    for (int e = 0; e < n; ++e) average[e] += weight * (value[e] - average[e]);
    store(arrays.average + i, average);
  });
}

__global__ void finish_step_kernel(OptimizerState* state, AdamConstants constants,
                                   LossScalePolicy policy, LearningRateSchedule schedule) {
  finish_optimizer_step(*state, constants, policy, schedule);
}

}  // namespace

void launch_flag_nonfinite(const Tensor& gradient, OptimizerState* state, Stream stream) {
  const std::int64_t count = gradient.count();
  if (count == 0) return;
  const float* values = gradient.as<float>();
  const bool vectors = vectors_allowed<kWidth>(values);
  launch(vectors ? flag_nonfinite_kernel<kWidth> : flag_nonfinite_kernel<1>,
         strided_grid(count, vectors ? kWidth : 1), kElementwiseBlock, 0, stream, values, count,
         state);
}

void launch_adam_step(const AdamUpdate& update, Stream stream) {
  ACGAN_CHECK(update.optimizers.size() <= kMaximumOptimizers);
  AdamArrays arrays{.master = update.master.as<float>(),
                    .working = update.working.data,
                    .optimizers = {},
                    .optimizer_count = 0,
                    .count = update.master.count(),
                    .constants = update.constants};
  if (arrays.count == 0 || update.optimizers.empty()) return;
  bool vectors = vectors_allowed<kWidth>(arrays.master);
  for (const AdamMoments& each : update.optimizers) {
    const MomentArrays moments{each.gradient.as<float>(), each.m.as<float>(), each.v.as<float>(),
                               each.state};
    vectors = vectors && vectors_allowed<kWidth>(moments.gradient, moments.m, moments.v);
    arrays.optimizers[arrays.optimizer_count++] = moments;
  }
  if (!update.working) return launch_adam<void>(arrays, vectors, stream);
  visit_dtype(update.working.dtype, [&]<typename T>(T) {
    launch_adam<T>(arrays, vectors && vectors_allowed<kWidth>(update.working.as<T>()), stream);
  });
}

void launch_ema_step(const EmaUpdate& update, Stream stream) {
  const EmaArrays arrays{update.value.as<float>(), update.average.as<float>(),
                         update.value.count(),     update.decay,
                         update.ramp_up,           update.state};
  if (arrays.count == 0) return;
  const bool vectors = vectors_allowed<kWidth>(arrays.value, arrays.average);
  launch(vectors ? ema_step_kernel<kWidth> : ema_step_kernel<1>,
         strided_grid(arrays.count, vectors ? kWidth : 1), kElementwiseBlock, 0, stream, arrays);
}

void launch_finish_step(OptimizerState* state, const AdamConstants& constants,
                        const LossScalePolicy& policy, const LearningRateSchedule& schedule,
                        Stream stream) {
  launch(finish_step_kernel, dim3{1, 1, 1}, dim3{1, 1, 1}, 0, stream, state, constants, policy,
         schedule);
}

}  // namespace acgan::cuda
