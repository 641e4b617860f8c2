#include <limits>

#include "cuda/kernels.h"
#include "cuda/tile/vector_access.cuh"

namespace acgan::cuda {
namespace {

constexpr unsigned kGatherThreads = 128;  // an MNIST image is 98 vectors of halves

struct Images {
  const std::uint8_t* pixels;
  const std::int32_t* indices;
  std::int64_t count;       // of images
  std::int64_t size;        // pixels of one
  unsigned blocks_per_row;  // blocks that write one image
};

// An index that does not exist gives NaN: the loss shows it and the update is skipped.
template <typename T, int kWidth>
__global__ void gather_images_kernel(Images images, float divisor, T* destination) {
  const std::int64_t n = blockIdx.x / images.blocks_per_row;
  const std::int64_t block = blockIdx.x % images.blocks_per_row;
  const std::int64_t i = (block * kGatherThreads + threadIdx.x) * kWidth;
  if (i >= images.size) return;
  const std::int64_t index = images.indices[n];
  float value[kWidth];
  if (index >= 0 && index < images.count) {
    load(images.pixels + index * images.size + i, value);
  } else {
#pragma unroll
    for (int v = 0; v < kWidth; ++v) value[v] = std::numeric_limits<float>::quiet_NaN();
  }
#pragma unroll
  for (int v = 0; v < kWidth; ++v) value[v] /= divisor;
  store(destination + n * images.size + i, value);
}

__global__ void gather_labels_kernel(const std::int32_t* labels, std::int64_t label_count,
                                     const std::int32_t* indices, std::int32_t* destination,
                                     std::int64_t count) {
  const std::int64_t i = global_index();
  if (i >= count) return;
  const std::int64_t index = indices[i];
  destination[i] = index >= 0 && index < label_count ? labels[index] : -1;
}

}  // namespace

void launch_gather_images(const Tensor& images, const Tensor& indices, float divisor,
                          const Tensor& destination, Stream stream) {
  if (destination.count() == 0) return;
  visit_dtype(destination.dtype, [&]<typename T>(T) {
    constexpr int kWidth = kVectorWidth<T>;
    Images from{images.as<std::uint8_t>(), indices.as<std::int32_t>(), images.rows(),
                destination.row_size(), 1};
    const bool vectors =
        from.size % kWidth == 0 && vectors_allowed<kWidth>(from.pixels, destination.as<T>());
    const std::int64_t per_block = std::int64_t{kGatherThreads} * (vectors ? kWidth : 1);
    from.blocks_per_row = static_cast<unsigned>((from.size + per_block - 1) / per_block);
    const dim3 grid{static_cast<unsigned>(destination.rows() * from.blocks_per_row), 1, 1};
    launch(vectors ? gather_images_kernel<T, kWidth> : gather_images_kernel<T, 1>, grid,
           dim3{kGatherThreads, 1, 1}, 0, stream, from, divisor, destination.as<T>());
  });
}

void launch_gather_labels(const Tensor& labels, const Tensor& indices, const Tensor& destination,
                          Stream stream) {
  const std::int64_t count = destination.count();
  if (count == 0) return;
  launch(gather_labels_kernel, elementwise_grid(count), kElementwiseBlock, 0, stream,
         labels.as<std::int32_t>(), labels.count(), indices.as<std::int32_t>(),
         destination.as<std::int32_t>(), count);
}

}  // namespace acgan::cuda
