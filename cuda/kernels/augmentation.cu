#include <algorithm>

#include "backend/augmentation.h"
#include "cuda/kernels.h"
#include "cuda/tile/numeric.cuh"
#include "cuda/tile/reduce.cuh"
#include "cuda/tile/vector_access.cuh"

// Flips and DiffAugment: one block an image, since a change of contrast needs the image's mean.
namespace acgan::cuda {
namespace {

constexpr unsigned kImageThreads = 256;

struct Square {
  int side, channels;
};

template <typename T>
__global__ void flip_images_kernel(const RandomState* state, T* images, std::int64_t rows,
                                   std::int64_t width, std::int64_t channels) {
  const std::int64_t n = blockIdx.x;
  const auto words =
      philox_block(state->seed, RandomStream::Flip, state->step, static_cast<std::uint32_t>(n / 4));
  // An index that is not constant would put the words into local memory.
  std::uint32_t word = words[0];
#pragma unroll
  for (unsigned i = 1; i < 4; ++i) word = n % 4 == i ? words[i] : word;
  if (word % 2 == 0) return;
  T* image = images + n * rows * width * channels;
  const std::int64_t half = width / 2 * channels;  // values of a row that are swapped
  for (std::int64_t i = threadIdx.x; i < rows * half; i += kImageThreads) {
    T* row = image + i / half * width * channels;
    const std::int64_t w = i % half / channels, c = i % channels;
    T* left = row + w * channels + c;
    T* right = row + (width - 1 - w) * channels + c;
    const T kept = *left;
    *left = *right;
    *right = kept;
  }
}

// own * x + of_channels * mean over channels + offset: DiffAugment's change of colours and, without
// brightness, its transpose.
struct ColorMix {
  float own, of_channels, offset;
};

__device__ __forceinline__ ColorMix mix_of(const ImageAugmentation& drawn, double sum, Square size,
                                           float brightness) {
  const double mean = sum / static_cast<double>(size.side * size.side * size.channels);
  return {drawn.contrast * drawn.saturation, drawn.contrast * (1.0f - drawn.saturation),
          static_cast<float>((1.0 - double{drawn.contrast}) * mean) + brightness};
}

// Writes one pixel; `pixel` gives its channels before the mix, or null: all of them are zero.
template <typename T>
__device__ __forceinline__ void write_pixel(const T* pixel, const ColorMix& mix, int channels,
                                            T* destination) {
  float mean = 0.0f;
  for (int c = 0; c < channels && pixel != nullptr; ++c) mean += as_float(pixel[c]);
  const float shared = mix.of_channels * (mean / static_cast<float>(channels)) + mix.offset;
  for (int c = 0; c < channels; ++c) {
    const float own = pixel != nullptr ? mix.own * as_float(pixel[c]) : 0.0f;
    destination[c] = narrow<T>(own + shared);
  }
}

__device__ __forceinline__ double sum_of_block(double sum) {
  SHARED(double, total);
  sum = block_sum(sum);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  return total;
}

template <typename T>
__global__ void __launch_bounds__(kImageThreads)
    augment_kernel(AugmentationDraw draw, const T* x, T* y, Square size) {
  const int pixels = size.side * size.side;
  const std::int64_t begin = std::int64_t{blockIdx.x} * pixels * size.channels;
  const ImageAugmentation drawn =
      draw_augmentation(*draw.state, draw.kinds, draw.first_image + blockIdx.x, size.side);
  double sum = 0.0;
  for (int i = static_cast<int>(threadIdx.x); i < pixels * size.channels; i += kImageThreads) {
    sum += double{as_float(x[begin + i])};
  }
  const ColorMix mix = mix_of(drawn, sum_of_block(sum), size, drawn.brightness);
  for (int i = static_cast<int>(threadIdx.x); i < pixels; i += kImageThreads) {
    const int h = i / size.side, w = i % size.side;
    T* destination = y + begin + std::int64_t{i} * size.channels;
    if (drawn.shows(h, w)) {
      const int from = (h - drawn.down) * size.side + w - drawn.right;
      write_pixel(x + begin + std::int64_t{from} * size.channels, mix, size.channels, destination);
    } else {
      for (int c = 0; c < size.channels; ++c) destination[c] = narrow<T>(0.0f);
    }
  }
}

template <typename T>
__global__ void __launch_bounds__(kImageThreads)
    augment_backward_kernel(AugmentationDraw draw, const T* dy, T* dx, Square size) {
  const int pixels = size.side * size.side;
  const std::int64_t begin = std::int64_t{blockIdx.x} * pixels * size.channels;
  const ImageAugmentation drawn =
      draw_augmentation(*draw.state, draw.kinds, draw.first_image + blockIdx.x, size.side);
  double sum = 0.0;
  for (int i = static_cast<int>(threadIdx.x); i < pixels; i += kImageThreads) {
    if (!drawn.shows(i / size.side, i % size.side)) continue;
    for (int c = 0; c < size.channels; ++c) {
      sum += double{as_float(dy[begin + std::int64_t{i} * size.channels + c])};
    }
  }
  const ColorMix mix = mix_of(drawn, sum_of_block(sum), size, 0.0f);
  for (int i = static_cast<int>(threadIdx.x); i < pixels; i += kImageThreads) {
    const int h = i / size.side + drawn.down, w = i % size.side + drawn.right;
    const bool used = h >= 0 && h < size.side && w >= 0 && w < size.side && drawn.shows(h, w);
    const T* slope = used ? dy + begin + std::int64_t{h * size.side + w} * size.channels : nullptr;
    write_pixel(slope, mix, size.channels, dx + begin + std::int64_t{i} * size.channels);
  }
}

dim3 block_of_each_image(const Tensor& images) {
  return {static_cast<unsigned>(images.rows()), 1, 1};
}

Square square_of(const Tensor& images) {
  return {static_cast<int>(images.shape[1]), static_cast<int>(images.shape[3])};
}

}  // namespace

void launch_flip_images(const RandomState* state, const Tensor& images, Stream stream) {
  if (images.count() == 0) return;
  visit_dtype(images.dtype, [&]<typename T>(T) {
    launch(flip_images_kernel<T>, block_of_each_image(images), dim3{kImageThreads, 1, 1}, 0, stream,
           state, images.as<T>(), images.shape[1], images.shape[2], images.shape[3]);
  });
}

void launch_augment(const AugmentationDraw& draw, const Tensor& x, const Tensor& y, Stream stream) {
  if (x.count() == 0) return;
  visit_dtype(x.dtype, [&]<typename T>(T) {
    launch(augment_kernel<T>, block_of_each_image(x), dim3{kImageThreads, 1, 1}, 0, stream, draw,
           x.as<T>(), y.as<T>(), square_of(x));
  });
}

void launch_augment_backward(const AugmentationDraw& draw, const Tensor& dy, const Tensor& dx,
                             Stream stream) {
  if (dy.count() == 0) return;
  visit_dtype(dy.dtype, [&]<typename T>(T) {
    launch(augment_backward_kernel<T>, block_of_each_image(dy), dim3{kImageThreads, 1, 1}, 0,
           stream, draw, dy.as<T>(), dx.as<T>(), square_of(dy));
  });
}

}  // namespace acgan::cuda
