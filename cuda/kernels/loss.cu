#include <cmath>
#include <limits>

#include "cuda/kernels.h"
#include "cuda/tile/numeric.cuh"
#include "cuda/tile/reduce.cuh"

// One block each: a batch of logits is small, and one block needs no second pass for the mean.
namespace acgan::cuda {
namespace {

constexpr unsigned kLossThreads = 512;            // 1024 leave too few registers
constexpr std::int64_t kClassesOfOneThread = 32;  // above: a warp works on one row

struct LossOutput {
  float* loss;
  Accumulation accumulation;
  void* gradient;  // null: not wanted
  const OptimizerState* scaler;
};

LossOutput output_of(const LossResult& result) {
  return {result.loss, result.accumulation, result.gradient.data, result.scaler};
}

// What a gradient of the sum is multiplied by: the loss scale over the batch.
__device__ __forceinline__ float gradient_factor(const LossOutput& output, std::int64_t batch) {
  const float scale = output.scaler != nullptr ? output.scaler->loss_scale : 1.0f;
  return scale / static_cast<float>(batch);
}

__device__ __forceinline__ void write_mean(const LossOutput& output, double sum,
                                           std::int64_t batch) {
  const double before = output.accumulation == Accumulation::Add ? double{*output.loss} : 0.0;
  *output.loss = static_cast<float>(before + sum / static_cast<double>(batch));
}

__device__ __forceinline__ bool is_finite(float value) {
  return std::fabs(value) <= std::numeric_limits<float>::max();
}

template <typename T>
__global__ void __launch_bounds__(kLossThreads)
    bce_kernel(const float* logits, std::int64_t count, float target, LossOutput output) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float factor = gradient_factor(output, count);
  double sum = 0.0;
  for (std::int64_t i = threadIdx.x; i < count; i += kLossThreads) {
    const float l = logits[i];
    const float e = std::exp(-std::fabs(l));  // at most 1: cannot overflow
    const float sigmoid = (l >= 0.0f ? 1.0f : e) / (1.0f + e);
    sum += is_finite(l) ? std::fmax(l, 0.0f) - target * l + std::log1p(e) : nan;
    if (output.gradient != nullptr) {
      const float slope = is_finite(l) ? (sigmoid - target) * factor : nan;
      static_cast<T*>(output.gradient)[i] = narrow<T>(slope);
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) write_mean(output, sum, count);
}

template <typename T>
__global__ void __launch_bounds__(kLossThreads)
    hinge_kernel(const float* logits, std::int64_t count, SourceTerm term, LossOutput output) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float factor = gradient_factor(output, count);
  const float slope = term == SourceTerm::Fake ? 1.0f : -1.0f;
  const float margin = term == SourceTerm::Generator ? 0.0f : 1.0f;
  double sum = 0.0;
  for (std::int64_t i = threadIdx.x; i < count; i += kLossThreads) {
    const float l = logits[i];
    const float value = margin + slope * l;
    const bool counts = term == SourceTerm::Generator || value > 0.0f;
    sum += is_finite(l) ? (counts ? value : 0.0f) : nan;
    if (output.gradient != nullptr) {
      const float own = is_finite(l) ? (counts ? slope * factor : 0.0f) : nan;
      static_cast<T*>(output.gradient)[i] = narrow<T>(own);
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) write_mean(output, sum, count);
}

// A largest logit and where it first stands; `finite`: all that were looked at.
struct RowMaximum {
  float value;
  int index;
  int finite;
};

template <int kLanes>
__device__ __forceinline__ RowMaximum row_maximum(const float* row, int classes, int lane) {
  RowMaximum best{-std::numeric_limits<float>::infinity(), classes, 1};
  for (int k = lane; k < classes; k += kLanes) {
    if (!is_finite(row[k])) best.finite = 0;
    if (row[k] > best.value) best = {row[k], k, best.finite};
  }
  if constexpr (kLanes > 1) {
#pragma unroll
    for (int bits = kLanes / 2; bits > 0; bits /= 2) {
      const RowMaximum other{__shfl_xor_sync(kFullWarp, best.value, bits),
                             __shfl_xor_sync(kFullWarp, best.index, bits),
                             __shfl_xor_sync(kFullWarp, best.finite, bits)};
      best.finite &= other.finite;
      if (other.value > best.value || (other.value == best.value && other.index < best.index)) {
        best = {other.value, other.index, best.finite};
      }
    }
  }
  return best;
}

struct Rows {
  const float* logits;
  const std::int32_t* labels;
  std::int64_t count;
  int classes;
};

// A logit that is not finite, or a label that does not exist, makes the row's loss and gradient
// NaN, so that the fault is seen and the update skipped.
template <typename T, int kLanes>
__global__ void __launch_bounds__(kLossThreads)
    softmax_kernel(Rows rows, LossOutput output, float* correct) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const float factor = gradient_factor(output, rows.count);
  double sum = 0.0;
  int hits = 0;
  for (std::int64_t n = threadIdx.x / kLanes; n < rows.count; n += kLossThreads / kLanes) {
    const float* row = rows.logits + n * rows.classes;
    const int label = rows.labels[n];
    const RowMaximum best = row_maximum<kLanes>(row, rows.classes, lane);
    const bool sound = best.finite != 0 && label >= 0 && label < rows.classes;
    float total = 0.0f;
    for (int k = lane; k < rows.classes; k += kLanes) total += std::exp(row[k] - best.value);
    if constexpr (kLanes > 1) total = warp_sum(total);
    if (lane == 0) {
      sum += sound ? std::log(total) - (row[label] - best.value)
                   : std::numeric_limits<float>::quiet_NaN();
      hits += sound && best.index == label ? 1 : 0;
    }
    if (output.gradient == nullptr) continue;
    T* gradient = static_cast<T*>(output.gradient) + n * rows.classes;
    for (int k = lane; k < rows.classes; k += kLanes) {
      const float share = __fdividef(std::exp(row[k] - best.value), total);  // total >= 1
      const float slope = share - (k == label ? 1.0f : 0.0f);
      gradient[k] = narrow<T>(sound ? slope * factor : std::numeric_limits<float>::quiet_NaN());
    }
  }
  sum = block_sum(sum);
  hits = block_sum(hits);
  if (threadIdx.x != 0) return;
  write_mean(output, sum, rows.count);
  if (correct != nullptr) {
    *correct = static_cast<float>(hits / static_cast<double>(rows.count));
  }
}

// The dtype of a gradient, or any where none is wanted.
DType gradient_dtype(const LossResult& result) {
  return result.gradient ? result.gradient.dtype : DType::F32;
}

}  // namespace

void launch_bce_with_logits(const Tensor& logits, float target, const LossResult& result,
                            Stream stream) {
  visit_dtype(gradient_dtype(result), [&]<typename T>(T) {
    launch(bce_kernel<T>, dim3{1, 1, 1}, dim3{kLossThreads, 1, 1}, 0, stream, logits.as<float>(),
           logits.count(), target, output_of(result));
  });
}

void launch_hinge_loss(const Tensor& logits, SourceTerm term, const LossResult& result,
                       Stream stream) {
  visit_dtype(gradient_dtype(result), [&]<typename T>(T) {
    launch(hinge_kernel<T>, dim3{1, 1, 1}, dim3{kLossThreads, 1, 1}, 0, stream, logits.as<float>(),
           logits.count(), term, output_of(result));
  });
}

void launch_softmax_cross_entropy(const Tensor& logits, const Tensor& labels,
                                  const LossResult& result, float* correct, Stream stream) {
  const Rows rows{logits.as<float>(), labels.as<std::int32_t>(), logits.shape[0],
                  static_cast<int>(logits.shape[1])};
  visit_dtype(gradient_dtype(result), [&]<typename T>(T) {
    launch(rows.classes <= kClassesOfOneThread ? softmax_kernel<T, 1> : softmax_kernel<T, 32>,
           dim3{1, 1, 1}, dim3{kLossThreads, 1, 1}, 0, stream, rows, output_of(result), correct);
  });
}

}  // namespace acgan::cuda
