#pragma once

#include "cuda/tile/activation.cuh"
#include "cuda/tile/numeric.cuh"
#include "cuda/tile/tensor_core_product.cuh"

namespace acgan::cuda {

template <typename T>
__device__ __forceinline__ std::uint32_t pack(float low, float high) {
  return narrow<T>(low).bits | static_cast<std::uint32_t>(narrow<T>(high).bits) << 16;
}

// Where the columns [column0, columns) of a product go: the bias is added and the activation
// applied in float before the one rounding.
template <typename T>
struct RowStore {
  const T* bias;  // [columns] or null
  Activation activation;
  int column0, columns;

  __device__ __forceinline__ float finished(float value, int column) const {
    if (bias != nullptr && column < columns) value += widen(bias[column]);
    return activate(value, activation);
  }

  // Element by element: any alignment and count. row(m) is the address of column 0 of row m of the
  // block, or null.
  template <class Tile, class Rows>
  __device__ __forceinline__ void store_elements(const Accumulators<Tile>& sums,
                                                 const Rows& row) const {
    for_each_pair(sums, [&](int m, int n, float low, float high) {
      T* const address = row(m);
      const int column = column0 + n;
      if (address == nullptr) return;
      if (column < columns) address[column] = narrow<T>(finished(low, column));
      if (column + 1 < columns) address[column + 1] = narrow<T>(finished(high, column + 1));
    });
  }

  // Eight columns a lane in 16 bytes: rows are 16-byte aligned and columns a multiple of eight. The
  // four lanes of a row exchange their pairs, so that each stores one fragment's whole row and the
  // four of them 64 bytes in a line.
  template <class Tile, class Rows>
  __device__ __forceinline__ void store_vectors(const Accumulators<Tile>& sums,
                                                const Rows& row) const {
    static_assert(Tile::kFragmentsN % 4 == 0);
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32, warp = thread / 32, turn = lane % 4;
    const int row0 = warp % Tile::kWarpRows * Tile::kWarpM + lane / 4;
    const int warp_column = column0 + warp / Tile::kWarpRows * Tile::kWarpN;
#pragma unroll
    for (int i = 0; i < Tile::kFragmentsM; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        T* const address = row(row0 + i * 16 + half * 8);
#pragma unroll
        for (int j = 0; j < Tile::kFragmentsN; j += 4) {
          std::uint32_t pairs[4];
#pragma unroll
          for (int f = 0; f < 4; ++f) {
            const int column = warp_column + (j + f) * 8 + turn * 2;
            const float* values = sums.values[i][j + f] + half * 2;
            pairs[f] = pack<T>(finished(values[0], column), finished(values[1], column + 1));
          }
          transpose_quad(pairs, turn);
          const int column = warp_column + (j + turn) * 8;
          if (address != nullptr && column < columns) {
            *reinterpret_cast<uint4*>(address + column) =
                make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
          }
        }
      }
    }
  }

 private:
  // values[k] of lane t becomes values[t] of lane k, within groups of four lanes.
  __device__ __forceinline__ static void transpose_quad(std::uint32_t (&values)[4], int turn) {
    exchange(values[0], values[1], 1, (turn & 1) != 0);
    exchange(values[2], values[3], 1, (turn & 1) != 0);
    exchange(values[0], values[2], 2, (turn & 2) != 0);
    exchange(values[1], values[3], 2, (turn & 2) != 0);
  }
  // The lower lane's second value and the upper lane's first one change places.
  __device__ __forceinline__ static void exchange(std::uint32_t& first, std::uint32_t& second,
                                                  int distance, bool upper) {
    const std::uint32_t received = __shfl_xor_sync(0xffffffffu, upper ? first : second, distance);
    (upper ? first : second) = received;
  }
};

}  // namespace acgan::cuda
