#include "cuda/convolution_kernels.h"
#include "cuda/tile/conv_operands.cuh"
#include "cuda/tile/store_rows.cuh"

namespace acgan::cuda {
namespace {

// dx [pixel of a phase, in_c]: for stride 2 the four phases (even or odd row, even or odd column)
// each meet their own quarter of the taps, so no multiplication is with a zero in between. Bound by
// the tensor cores for the wide layers: 2 * 4 * K operations for each element of dx.
template <class Tile, typename T, Access kAccess>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    conv_backward_data_kernel(ConvSizes sizes, FastDivisor per_channel, const T* dy, const T* w,
                              const T* bias, T* dx) {
  const BackwardPhase phase(sizes, static_cast<int>(blockIdx.z));
  const BackwardPatches<T> patches(sizes, phase, per_channel, dy);
  const BackwardFilters<T> filters(sizes, phase, per_channel, w);
  const int pixel0 = static_cast<int>(blockIdx.x) * Tile::kM;
  const int column0 = static_cast<int>(blockIdx.y) * Tile::kN;
  if (pixel0 >= patches.pixels) return;  // the whole block: this phase has fewer pixels
  Accumulators<Tile> sums;
  tensor_core_product<Tile, kAccess, kAccess>(patches, filters, pixel0, column0, 0, patches.depth,
                                              sums);
  const int per_image = phase.rows.extent * phase.columns.extent;
  const auto row = [&](int m) -> T* {
    if (pixel0 + m >= patches.pixels) return nullptr;
    const int image = (pixel0 + m) / per_image, rest = (pixel0 + m) % per_image;
    const int h = rest / phase.columns.extent * sizes.stride + phase.row;
    const int v = rest % phase.columns.extent * sizes.stride + phase.column;
    return dx + ((std::int64_t{image} * sizes.in_h + h) * sizes.in_w + v) * sizes.in_c;
  };
  const RowStore<T> store{bias, Activation::None, column0, sizes.in_c};
  if constexpr (kAccess == Access::Vector) {
    store.store_vectors(sums, row);
  } else {
    store.store_elements(sums, row);
  }
}

template <class Tile, typename T, Access kAccess>
void launch_tile(const ConvBackwardData& call, int arch, Stream stream) {
  const ConvSizes sizes(call.geometry, call.dx.rows());
  const PhaseAxis rows(0, sizes.in_h, sizes.kernel, sizes.stride, sizes.pad);  // the most pixels
  const PhaseAxis columns(0, sizes.in_w, sizes.kernel, sizes.stride, sizes.pad);
  const int pixels = sizes.images * rows.extent * columns.extent;
  const dim3 grid{static_cast<unsigned>((pixels + Tile::kM - 1) / Tile::kM),
                  static_cast<unsigned>((sizes.in_c + Tile::kN - 1) / Tile::kN),
                  static_cast<unsigned>(sizes.stride * sizes.stride)};
  launch(conv_backward_data_kernel<Tile, T, kAccess>, grid, dim3{Tile::kThreads, 1, 1},
         static_cast<unsigned>(pipeline_stages_of(arch)) * Tile::kStageBytes, stream, sizes,
         FastDivisor(sizes.out_c), call.dy.as<T>(), call.w.as<T>(),
         call.bias ? call.bias.as<T>() : nullptr, call.dx.as<T>());
}

template <typename T>
void launch_typed(const ConvBackwardData& call, const TileChoice& choice, Stream stream) {
  using Large = ProductTile<128, 128, 2, 4>;
  using Tall = ProductTile<128, 64, 4, 2>;
  using Small = ProductTile<64, 64, 2, 2>;
  if (!choice.vector) {
    launch_tile<Small, T, Access::Element>(call, choice.arch, stream);
  } else if (choice.shape == TileShape::k128x128) {
    launch_tile<Large, T, Access::Vector>(call, choice.arch, stream);
  } else if (choice.shape == TileShape::k128x64) {
    launch_tile<Tall, T, Access::Vector>(call, choice.arch, stream);
  } else {
    launch_tile<Small, T, Access::Vector>(call, choice.arch, stream);
  }
}

}  // namespace

void launch_conv_backward_data(const ConvBackwardData& call, const TileChoice& choice,
                               Stream stream) {
  if (call.dx.dtype == DType::F16) {
    launch_typed<Half>(call, choice, stream);
  } else {
    launch_typed<BFloat16>(call, choice, stream);
  }
}

}  // namespace acgan::cuda
