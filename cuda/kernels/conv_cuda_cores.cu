#include "cuda/convolution_kernels.h"
#include "cuda/tile/conv_operands.cuh"
#include "cuda/tile/store_rows.cuh"

namespace acgan::cuda {
namespace {

// One block: 64 x 64 of the product, 16 depths at a time, 4 x 4 a thread, FP32 multiply-add.
// Bound by shared memory: eight reads for sixteen multiply-adds.
constexpr int kSide = 64, kDepth = 16, kThreads = 256, kPart = 4;
constexpr int kStride = kSide + 4;  // keeps rows 16-byte aligned and off each other's banks

using Tile = float[kDepth][kStride];
using Sums = float[kPart][kPart];

// Depths [depth0, depth0 + kDepth) of the outer indices [outer0, outer0 + kSide), in float. Threads
// run along the direction in which the operand is contiguous.
template <class Operand>
__device__ __forceinline__ void load_tile(const Operand& operand, int outer0, int depth0,
                                          Tile& tile) {
#pragma unroll
  for (int i = 0; i < kSide * kDepth / kThreads; ++i) {
    const int index = static_cast<int>(threadIdx.x) + i * kThreads;
    const int outer = Operand::kDepthContiguous ? index / kDepth : index % kSide;
    const int depth = Operand::kDepthContiguous ? index % kDepth : index / kSide;
    const auto* source = operand.at(operand.line(outer0 + outer), operand.step(depth0 + depth));
    tile[depth][outer] = source != nullptr ? widen(*source) : 0.0f;
  }
}

template <class A, class B>
__device__ __forceinline__ void product(const A& a, const B& b, int outer_a, int outer_b,
                                        int depth0, int depth_end, Sums& sums) {
  SHARED(Tile, tile_a);
  SHARED(Tile, tile_b);
  const int row = static_cast<int>(threadIdx.x) / 16 * kPart;
  const int column = static_cast<int>(threadIdx.x) % 16 * kPart;
#pragma unroll
  for (int i = 0; i < kPart; ++i) {
#pragma unroll
    for (int j = 0; j < kPart; ++j) sums[i][j] = 0.0f;
  }
  for (int depth = depth0; depth < depth_end; depth += kDepth) {
    load_tile(a, outer_a, depth, tile_a);
    load_tile(b, outer_b, depth, tile_b);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      const float4 left = *reinterpret_cast<const float4*>(&tile_a[k][row]);
      const float4 right = *reinterpret_cast<const float4*>(&tile_b[k][column]);
      const float lefts[kPart] = {left.x, left.y, left.z, left.w};
      const float rights[kPart] = {right.x, right.y, right.z, right.w};
#pragma unroll
      for (int i = 0; i < kPart; ++i) {
#pragma unroll
        for (int j = 0; j < kPart; ++j) sums[i][j] += lefts[i] * rights[j];
      }
    }
    __syncthreads();
  }
}

// Calls visit(row, column, value) for this thread's part of the block.
template <class Visitor>
__device__ __forceinline__ void for_each_sum(const Sums& sums, const Visitor& visit) {
  const int row = static_cast<int>(threadIdx.x) / 16 * kPart;
  const int column = static_cast<int>(threadIdx.x) % 16 * kPart;
#pragma unroll
  for (int i = 0; i < kPart; ++i) {
#pragma unroll
    for (int j = 0; j < kPart; ++j) visit(row + i, column + j, sums[i][j]);
  }
}

template <typename T>
__device__ __forceinline__ float bias_at(const T* bias, int channel) {
  return bias != nullptr ? widen(bias[channel]) : 0.0f;
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    conv_forward_cuda_cores_kernel(ForwardPatches<T> patches, ForwardFilters<T> filters,
                                   const T* bias, Activation activation, T* y) {
  const int pixel0 = static_cast<int>(blockIdx.x) * kSide;
  const int channel0 = static_cast<int>(blockIdx.y) * kSide;
  Sums sums;
  product(patches, filters, pixel0, channel0, 0, patches.depth, sums);
  const int pixels = patches.sizes.out_pixels(), channels = patches.sizes.out_c;
  for_each_sum(sums, [&](int m, int n, float value) {
    const int pixel = pixel0 + m, channel = channel0 + n;
    if (pixel >= pixels || channel >= channels) return;
    y[std::int64_t{pixel} * channels + channel] =
        narrow<T>(activate(value + bias_at(bias, channel), activation));
  });
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    conv_backward_data_cuda_cores_kernel(ConvSizes sizes, FastDivisor per_channel, const T* dy,
                                         const T* w, const T* bias, T* dx) {
  const BackwardPhase phase(sizes, static_cast<int>(blockIdx.z));
  const BackwardPatches<T> patches(sizes, phase, per_channel, dy);
  const BackwardFilters<T> filters(sizes, phase, per_channel, w);
  const int pixel0 = static_cast<int>(blockIdx.x) * kSide;
  const int channel0 = static_cast<int>(blockIdx.y) * kSide;
  if (pixel0 >= patches.pixels) return;  // the whole block: this phase has fewer pixels
  Sums sums;
  product(patches, filters, pixel0, channel0, 0, patches.depth, sums);
  const int per_image = phase.rows.extent * phase.columns.extent;
  for_each_sum(sums, [&](int m, int n, float value) {
    const int pixel = pixel0 + m, channel = channel0 + n;
    if (pixel >= patches.pixels || channel >= sizes.in_c) return;
    const int image = pixel / per_image, rest = pixel % per_image;
    const int h = rest / phase.columns.extent * sizes.stride + phase.row;
    const int v = rest % phase.columns.extent * sizes.stride + phase.column;
    dx[((std::int64_t{image} * sizes.in_h + h) * sizes.in_w + v) * sizes.in_c + channel] =
        narrow<T>(value + bias_at(bias, channel));
  });
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    conv_backward_weight_cuda_cores_kernel(ConvSizes sizes, PixelIndex pixel_index,
                                           TapIndex tap_index, int pixels_per_split, const T* x,
                                           const T* dy, float* partials) {
  const int begin = static_cast<int>(blockIdx.z) * pixels_per_split;
  const int end = min(begin + pixels_per_split, sizes.out_pixels());
  const WeightGradients<T> gradients(sizes, end, dy);
  const WeightPatches<T> patches(sizes, pixel_index, tap_index, end, x);
  const int row0 = static_cast<int>(blockIdx.x) * kSide;
  const int column0 = static_cast<int>(blockIdx.y) * kSide;
  Sums sums;
  product(gradients, patches, row0, column0, begin, end, sums);
  float* const out =
      partials + static_cast<std::int64_t>(blockIdx.z) * sizes.out_c * patches.columns;
  for_each_sum(sums, [&](int m, int n, float value) {
    const int row = row0 + m, column = column0 + n;
    if (row >= sizes.out_c || column >= patches.columns) return;
    out[std::int64_t{row} * patches.columns + column] = value;
  });
}

unsigned blocks(int count) { return static_cast<unsigned>((count + kSide - 1) / kSide); }

}  // namespace

void launch_conv_forward_cuda_cores(const ConvForward& call, Stream stream) {
  const ConvSizes sizes(call.geometry, call.x.rows());
  const dim3 grid{blocks(sizes.out_pixels()), blocks(sizes.out_c), 1};
  visit_dtype(call.x.dtype, [&]<typename T>(T) {
    launch(conv_forward_cuda_cores_kernel<T>, grid, dim3{kThreads, 1, 1}, 0, stream,
           ForwardPatches<T>(sizes, call.x.as<T>()), ForwardFilters<T>(sizes, call.w.as<T>()),
           call.bias ? call.bias.as<T>() : nullptr, call.activation, call.y.as<T>());
  });
}

void launch_conv_backward_data_cuda_cores(const ConvBackwardData& call, Stream stream) {
  const ConvSizes sizes(call.geometry, call.dx.rows());
  const PhaseAxis rows(0, sizes.in_h, sizes.kernel, sizes.stride, sizes.pad);  // the most pixels
  const PhaseAxis columns(0, sizes.in_w, sizes.kernel, sizes.stride, sizes.pad);
  const dim3 grid{blocks(sizes.images * rows.extent * columns.extent), blocks(sizes.in_c),
                  static_cast<unsigned>(sizes.stride * sizes.stride)};
  visit_dtype(call.dx.dtype, [&]<typename T>(T) {
    launch(conv_backward_data_cuda_cores_kernel<T>, grid, dim3{kThreads, 1, 1}, 0, stream, sizes,
           FastDivisor(sizes.out_c), call.dy.as<T>(), call.w.as<T>(),
           call.bias ? call.bias.as<T>() : nullptr, call.dx.as<T>());
  });
}

void launch_conv_backward_weight_cuda_cores(const ConvBackwardWeight& call, Stream stream) {
  const ConvSizes sizes(call.geometry, call.x.rows());
  const int steps = (sizes.out_pixels() + kDepth - 1) / kDepth;
  const int pixels_per_split = (steps + call.splits - 1) / call.splits * kDepth;
  const dim3 grid{blocks(sizes.out_c), blocks(sizes.taps() * sizes.in_c),
                  static_cast<unsigned>(call.splits)};
  visit_dtype(call.x.dtype, [&]<typename T>(T) {
    launch(conv_backward_weight_cuda_cores_kernel<T>, grid, dim3{kThreads, 1, 1}, 0, stream, sizes,
           PixelIndex(sizes.out_h, sizes.out_w), TapIndex(sizes.kernel, sizes.in_c),
           pixels_per_split, call.x.as<T>(), call.dy.as<T>(), call.partials);
  });
}

}  // namespace acgan::cuda
