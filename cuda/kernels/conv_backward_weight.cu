#include "cuda/convolution_kernels.h"
#include "cuda/tile/conv_operands.cuh"
#include "cuda/tile/tensor_core_product.cuh"

namespace acgan::cuda {
namespace {

// Blocks for a multiprocessor. Where both operands are fetched element by element, what a thread
// holds of them spills with three (on sm_120).
template <class Tile, Access kAccessA>
inline constexpr int kBlocks = kAccessA == Access::Element ? 2 : Tile::kBlocks;

// dw [out_c, (r,s,in_c)] is small and its depth, all pixels of the batch, is long: the depth is
// split among blocks (blockIdx.z), whose partial sums a second kernel adds in order, so the result
// is the same in every run. Bound by the tensor cores for the wide layers; with 1 or 3 input
// channels by reading dy, which each block does once.
template <class Tile, typename T, Access kAccessA, Access kAccessB>
__global__ void __launch_bounds__(Tile::kThreads, kBlocks<Tile, kAccessA>)
    conv_backward_weight_kernel(ConvSizes sizes, PixelIndex pixel_index, TapIndex tap_index,
                                int pixels_per_split, const T* x, const T* dy, float* partials) {
  const int begin = static_cast<int>(blockIdx.z) * pixels_per_split;
  const int end = min(begin + pixels_per_split, sizes.out_pixels());
  const WeightGradients<T> gradients(sizes, end, dy);
  const WeightPatches<T> patches(sizes, pixel_index, tap_index, end, x);
  const int row0 = static_cast<int>(blockIdx.x) * Tile::kM;
  const int column0 = static_cast<int>(blockIdx.y) * Tile::kN;
  Accumulators<Tile> sums;
  tensor_core_product<Tile, kAccessA, kAccessB>(gradients, patches, row0, column0, begin, end,
                                                sums);
  const int rows = sizes.out_c, columns = patches.columns;
  float* const out = partials + static_cast<std::int64_t>(blockIdx.z) * rows * columns;
  for_each_pair(sums, [&](int m, int n, float low, float high) {
    const int row = row0 + m, column = column0 + n;
    if (row >= rows) return;
    float* const address = out + std::int64_t{row} * columns + column;
    if (column + 1 < columns && columns % 2 == 0) {
      *reinterpret_cast<float2*>(address) = make_float2(low, high);
      return;
    }
    if (column < columns) address[0] = low;
    if (column + 1 < columns) address[1] = high;
  });
}

template <class Tile, typename T, Access kAccessA, Access kAccessB>
void launch_tile(const ConvBackwardWeight& call, int arch, Stream stream) {
  const ConvSizes sizes(call.geometry, call.x.rows());
  const int columns = sizes.taps() * sizes.in_c;
  // Ranges in whole steps of the pipeline.
  const int steps = (sizes.out_pixels() + Tile::kK - 1) / Tile::kK;
  const int pixels_per_split = (steps + call.splits - 1) / call.splits * Tile::kK;
  const dim3 grid{static_cast<unsigned>((sizes.out_c + Tile::kM - 1) / Tile::kM),
                  static_cast<unsigned>((columns + Tile::kN - 1) / Tile::kN),
                  static_cast<unsigned>(call.splits)};
  launch(conv_backward_weight_kernel<Tile, T, kAccessA, kAccessB>, grid, dim3{Tile::kThreads, 1, 1},
         static_cast<unsigned>(pipeline_stages_of(arch)) * Tile::kStageBytes, stream, sizes,
         PixelIndex(sizes.out_h, sizes.out_w), TapIndex(sizes.kernel, sizes.in_c), pixels_per_split,
         call.x.as<T>(), call.dy.as<T>(), call.partials);
}

template <typename T>
void launch_typed(const ConvBackwardWeight& call, const TileChoice& choice, Stream stream) {
  using Large = ProductTile<128, 128, 2, 4>;
  using Small = ProductTile<64, 64, 2, 2>;
  using Narrow = ProductTile<64, 16, 4, 1>;
  if (choice.vector && choice.shape == TileShape::k128x128) {
    launch_tile<Large, T, Access::Vector, Access::Vector>(call, choice.arch, stream);
  } else if (choice.vector) {
    launch_tile<Small, T, Access::Vector, Access::Vector>(call, choice.arch, stream);
  } else if (choice.vector_a && choice.shape == TileShape::k64x16) {
    launch_tile<Narrow, T, Access::Vector, Access::Element>(call, choice.arch, stream);
  } else if (choice.vector_a) {
    launch_tile<Small, T, Access::Vector, Access::Element>(call, choice.arch, stream);
  } else {
    launch_tile<Small, T, Access::Element, Access::Element>(call, choice.arch, stream);
  }
}

}  // namespace

void launch_conv_backward_weight(const ConvBackwardWeight& call, const TileChoice& choice,
                                 Stream stream) {
  if (call.x.dtype == DType::F16) {
    launch_typed<Half>(call, choice, stream);
  } else {
    launch_typed<BFloat16>(call, choice, stream);
  }
}

}  // namespace acgan::cuda
