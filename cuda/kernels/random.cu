#include "backend/augmentation.h"
#include "cuda/kernels.h"
#include "cuda/tile/vector_access.cuh"

namespace acgan::cuda {
namespace {

constexpr int kWords = 4;  // of one Philox block: one thread's share

template <bool kVectors>
__global__ void random_uniform_kernel(const RandomState* state, RandomStream random,
                                      float* destination, std::int64_t count) {
  const std::int64_t block = global_index();
  const std::int64_t begin = block * kWords;
  if (begin >= count) return;
  const auto words =
      philox_block(state->seed, random, state->step, static_cast<std::uint32_t>(block));
  const float value[kWords] = {uniform_symmetric(words[0]), uniform_symmetric(words[1]),
                               uniform_symmetric(words[2]), uniform_symmetric(words[3])};
  if (kVectors && begin + kWords <= count) {
    store(destination + begin, value);
    return;
  }
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    if (begin + i < count) destination[begin + i] = value[i];
  }
}

__global__ void advance_random_kernel(RandomState* state) { ++state->step; }

__global__ void draw_labels_kernel(const RandomState* state, int classes, std::int32_t* labels,
                                   std::int64_t count) {
  const std::int64_t block = global_index();
  if (block * kWords >= count) return;
  const auto words = philox_block(state->seed, RandomStream::FakeLabels, state->step,
                                  static_cast<std::uint32_t>(block));
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    if (block * kWords + i < count) {
      labels[block * kWords + i] = integer_between(words[i], 0, classes - 1);
    }
  }
}

}  // namespace

void launch_draw_labels(const RandomState* state, std::int64_t classes, const Tensor& destination,
                        Stream stream) {
  const std::int64_t count = destination.count();
  if (count == 0) return;
  launch(draw_labels_kernel, elementwise_grid(count, kWords), kElementwiseBlock, 0, stream, state,
         static_cast<int>(classes), destination.as<std::int32_t>(), count);
}

void launch_random_uniform(const RandomState* state, RandomStream random, const Tensor& destination,
                           Stream stream) {
  const std::int64_t count = destination.count();
  if (count == 0) return;
  float* values = destination.as<float>();
  const bool vectors = vectors_allowed<kWords>(values);
  launch(vectors ? random_uniform_kernel<true> : random_uniform_kernel<false>,
         elementwise_grid(count, kWords), kElementwiseBlock, 0, stream, state, random, values,
         count);
}

void launch_advance_random(RandomState* state, Stream stream) {
  launch(advance_random_kernel, dim3{1, 1, 1}, dim3{1, 1, 1}, 0, stream, state);
}

}  // namespace acgan::cuda
