#include "cuda/kernels.h"
#include "cuda/tile/vector_access.cuh"

namespace acgan::cuda {
namespace {

template <typename From, typename To, int kWidth>
__global__ void cast_kernel(const From* source, To* destination, std::int64_t count) {
  for_own_elements<kWidth>(count, [&]<int n>(std::int64_t i, Constant<n>) {
    float value[n];
    load(source + i, value);
    store(destination + i, value);
  });
}

template <typename From, typename To>
void launch_typed(const From* source, To* destination, std::int64_t count, Stream stream) {
  constexpr int kWidth = kVectorWidth<From, To>;
  const bool vectors = vectors_allowed<kWidth>(source, destination);
  launch(vectors ? cast_kernel<From, To, kWidth> : cast_kernel<From, To, 1>,
         elementwise_grid(count, vectors ? kWidth : 1), kElementwiseBlock, 0, stream, source,
         destination, count);
}

}  // namespace

void launch_cast(const Tensor& source, const Tensor& destination, Stream stream) {
  const std::int64_t count = source.count();
  visit_dtype(source.dtype, [&]<typename From>(From) {
    visit_dtype(destination.dtype, [&]<typename To>(To) {
      if (count > 0) launch_typed(source.as<From>(), destination.as<To>(), count, stream);
    });
  });
}

}  // namespace acgan::cuda
