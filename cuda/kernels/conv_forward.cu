#include "cuda/convolution_kernels.h"
#include "cuda/tile/conv_operands.cuh"
#include "cuda/tile/store_rows.cuh"

namespace acgan::cuda {
namespace {

// y [pixel, out_c] as a product of patches and filters. Bound by the tensor cores from about 128
// input channels on (2 * 16 * C operations for 2 * C bytes of a patch that lies in the L2 cache
// after its first tap), by memory below; for 1 or 3 input channels the depth (r, s, c) is packed,
// 16 or 48 instead of 128, and storing y is what takes the time.
template <class Tile, typename T, Access kAccessX, Access kAccessW>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    conv_forward_kernel(ForwardPatches<T> patches, ForwardFilters<T> filters, const T* bias,
                        Activation activation, T* y) {
  const int pixel0 = static_cast<int>(blockIdx.x) * Tile::kM;
  const int column0 = static_cast<int>(blockIdx.y) * Tile::kN;
  Accumulators<Tile> sums;
  tensor_core_product<Tile, kAccessX, kAccessW>(patches, filters, pixel0, column0, 0, patches.depth,
                                                sums);
  const int pixels = patches.sizes.out_pixels(), channels = patches.sizes.out_c;
  const auto row = [&](int m) -> T* {
    return pixel0 + m < pixels ? y + std::int64_t{pixel0 + m} * channels : nullptr;
  };
  const RowStore<T> store{bias, activation, column0, channels};
  if constexpr (kAccessW == Access::Vector) {
    store.store_vectors(sums, row);
  } else {
    store.store_elements(sums, row);
  }
}

template <class Tile, typename T, Access kAccessX, Access kAccessW>
void launch_tile(const ConvForward& call, int arch, Stream stream) {
  const ConvSizes sizes(call.geometry, call.x.rows());
  const dim3 grid{static_cast<unsigned>((sizes.out_pixels() + Tile::kM - 1) / Tile::kM),
                  static_cast<unsigned>((sizes.out_c + Tile::kN - 1) / Tile::kN), 1};
  launch(conv_forward_kernel<Tile, T, kAccessX, kAccessW>, grid, dim3{Tile::kThreads, 1, 1},
         static_cast<unsigned>(pipeline_stages_of(arch)) * Tile::kStageBytes, stream,
         ForwardPatches<T>(sizes, call.x.as<T>()), ForwardFilters<T>(sizes, call.w.as<T>()),
         call.bias ? call.bias.as<T>() : nullptr, call.activation, call.y.as<T>());
}

template <typename T>
void launch_typed(const ConvForward& call, const TileChoice& choice, Stream stream) {
  using Large = ProductTile<128, 128, 2, 4>;
  using Tall = ProductTile<128, 64, 4, 2>;
  using Small = ProductTile<64, 64, 2, 2>;
  constexpr Access kVector = Access::Vector, kElement = Access::Element;
  if (choice.vector && choice.shape == TileShape::k128x128) {
    launch_tile<Large, T, kVector, kVector>(call, choice.arch, stream);
  } else if (choice.vector && choice.shape == TileShape::k128x64) {
    launch_tile<Tall, T, kVector, kVector>(call, choice.arch, stream);
  } else if (choice.vector) {
    launch_tile<Small, T, kVector, kVector>(call, choice.arch, stream);
  } else if (choice.vector_filters) {
    launch_tile<Small, T, kElement, kVector>(call, choice.arch, stream);
  } else {
    launch_tile<Small, T, kElement, kElement>(call, choice.arch, stream);
  }
}

}  // namespace

void launch_conv_forward(const ConvForward& call, const TileChoice& choice, Stream stream) {
  if (call.x.dtype == DType::F16) {
    launch_typed<Half>(call, choice, stream);
  } else {
    launch_typed<BFloat16>(call, choice, stream);
  }
}

}  // namespace acgan::cuda
