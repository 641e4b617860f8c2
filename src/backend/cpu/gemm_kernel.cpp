#include "backend/cpu/gemm_kernel.h"

#include <array>
#include <utility>

#include "base/check.h"

namespace acgan::gemm {
namespace {

// Rows x 2 vectors of accumulators stay in registers. Per value of the depth: two loads, Rows
// broadcasts, 2 Rows multiply-adds; with 6 rows these take 6 cycles on two pipes, the loads 4.
template <int Rows, TileStore Store>
void multiply_tile(std::int64_t depth, const float* strip, const float* panel, float* c,
                   std::int64_t stride, const void* const* lines) {
  Vector sums[Rows][2] = {};
  const auto add_products = [&](int step) {
    const Vector left = load(panel + step * kTileColumns);
    const Vector right = load(panel + step * kTileColumns + kWidth);
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
      const Vector value = broadcast(strip[row * kWidth + step]);
      sums[row][0] = multiply_add(value, left, sums[row][0]);
      sums[row][1] = multiply_add(value, right, sums[row][1]);
    }
  };

  for (std::int64_t group = depth / kWidth; group > 0; --group) {
    if (lines != nullptr) __builtin_prefetch(*lines++, 0, 2);
#pragma GCC unroll 16
    for (int step = 0; step < kWidth; ++step) add_products(step);
    strip += kTileRows * kWidth;
    panel += kWidth * kTileColumns;
  }
  for (int step = 0; step < static_cast<int>(depth % kWidth); ++step) add_products(step);

#pragma GCC unroll 16
  for (int row = 0; row < Rows; ++row) {
    float* place = c + row * stride;
    if constexpr (Store == TileStore::Add) {
      sums[row][0] += load(place);
      sums[row][1] += load(place + kWidth);
    }
    store(place, sums[row][0]);
    store(place + kWidth, sums[row][1]);
  }
}

template <TileStore Store, std::size_t... Index>
constexpr std::array<TileKernel, kTileRows> kernels(std::index_sequence<Index...>) {
  return {&multiply_tile<static_cast<int>(Index) + 1, Store>...};
}

constexpr auto kOverwriteKernels =
    kernels<TileStore::Overwrite>(std::make_index_sequence<kTileRows>());
constexpr auto kAddKernels = kernels<TileStore::Add>(std::make_index_sequence<kTileRows>());

}  // namespace

TileKernel tile_kernel(std::int64_t rows, TileStore store) {
  ACGAN_CHECK(rows >= 1 && rows <= kTileRows);
  const auto& table = store == TileStore::Add ? kAddKernels : kOverwriteKernels;
  return table[static_cast<std::size_t>(rows - 1)];
}

}  // namespace acgan::gemm
