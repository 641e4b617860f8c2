#pragma once

#include "cuda/tile/operand_tile.cuh"

namespace acgan::cuda {

// Shape of the work of one block: it computes kM x kN of the product, kK depths at a time, each
// warp a part of kWarpM x kWarpN in mma_m16n8k16 fragments.
template <int kTileM, int kTileN, int kWarpsM, int kWarpsN>
struct ProductTile {
  static constexpr int kM = kTileM, kN = kTileN, kK = 32;
  static constexpr int kWarps = kWarpsM * kWarpsN, kThreads = 32 * kWarps;
  static constexpr int kWarpM = kM / kWarpsM, kWarpN = kN / kWarpsN, kWarpRows = kWarpsM;
  static constexpr int kFragmentsM = kWarpM / 16, kFragmentsN = kWarpN / 8;
  // Blocks that shall fit on a multiprocessor, which bounds the registers of a thread. Without
  // asynchronous copies the large tile also holds what it fetches: one block then, without spills.
  static constexpr int kBlocks = kThreads < 256 ? 3 : kM * kN > 8192 && !kAsyncCopy ? 1 : 2;
  static constexpr std::size_t kStageBytes = std::size_t{kM + kN} * kK * 2;
};

// The block's part of sum over [depth0, depth_end) of a * b, in FP32 fragments: element e of
// fragment (i, j) of a lane lies at row i*16 + lane/4 + e/2*8, column j*8 + lane%4*2 + e%2 of the
// warp's part.
template <class Tile>
struct Accumulators {
  float values[Tile::kFragmentsM][Tile::kFragmentsN][4];
};

template <class Tile, Access kAccessA, Access kAccessB, class A, class B>
__device__ __forceinline__ void tensor_core_product(const A& a, const B& b, int outer_a,
                                                    int outer_b, int depth0, int depth_end,
                                                    Accumulators<Tile>& sums) {
  require_tensor_cores();
  using TileA = OperandTile<A, Tile::kM, Tile::kK, Tile::kThreads, kAccessA>;
  using TileB = OperandTile<B, Tile::kN, Tile::kK, Tile::kThreads, kAccessB>;
  using T = typename TileA::T;
  const int stages = pipeline_stages();
  SharedArena arena;
  T* const memory_a = arena.take<T>(static_cast<unsigned>(stages * TileA::kElements));
  T* const memory_b = arena.take<T>(static_cast<unsigned>(stages * TileB::kElements));
  TileA tile_a(a, outer_a);
  TileB tile_b(b, outer_b);

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int row0 = warp % Tile::kWarpRows * Tile::kWarpM;
  const int column0 = warp / Tile::kWarpRows * Tile::kWarpN;
#pragma unroll
  for (int i = 0; i < Tile::kFragmentsM; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kFragmentsN; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) sums.values[i][j][e] = 0.0f;
    }
  }

  const auto fetch = [&](int step, int stage) {
    const int depth = depth0 + step * Tile::kK;
    tile_a.fetch(memory_a + stage * TileA::kElements, depth);
    tile_b.fetch(memory_b + stage * TileB::kElements, depth);
    async_commit();
  };
  const auto deposit = [&](int stage) {
    tile_a.deposit(memory_a + stage * TileA::kElements);
    tile_b.deposit(memory_b + stage * TileB::kElements);
  };

  const int steps = (depth_end - depth0 + Tile::kK - 1) / Tile::kK;
  for (int step = 0; step < stages - 1; ++step) {
    if (step < steps) {
      fetch(step, step);
      deposit(step);
    } else {
      async_commit();
    }
  }
  int reads = 0, writes = stages - 1;  // the stages that this step reads and fetches into
  for (int step = 0; step < steps; ++step) {
    // This step's tiles are in (each thread waits for its own copies, the barrier for the others'),
    // and nobody reads those of the step before any more: its stage is free.
    async_wait_for_stage();
    __syncthreads();
    const int next = step + stages - 1;
    if (next < steps) {
      fetch(next, writes);
    } else {
      async_commit();
    }
    const T* const stage_a = memory_a + reads * TileA::kElements;
    const T* const stage_b = memory_b + reads * TileB::kElements;
#pragma unroll
    for (int depth = 0; depth < Tile::kK; depth += 16) {
      std::uint32_t fragment_a[Tile::kFragmentsM][4], fragment_b[Tile::kFragmentsN / 2][4];
#pragma unroll
      for (int i = 0; i < Tile::kFragmentsM; ++i) {
        TileA::load_a(fragment_a[i], stage_a, row0 + i * 16, depth, lane);
      }
#pragma unroll
      for (int j = 0; j < Tile::kFragmentsN / 2; ++j) {
        TileB::load_b(fragment_b[j], stage_b, column0 + j * 16, depth, lane);
      }
#pragma unroll
      for (int i = 0; i < Tile::kFragmentsM; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::kFragmentsN; ++j) {
          mma_m16n8k16<T>(sums.values[i][j], fragment_a[i], fragment_b[j / 2][j % 2 * 2],
                          fragment_b[j / 2][j % 2 * 2 + 1]);
        }
      }
    }
    if (next < steps) deposit(writes);
    reads = reads + 1 == stages ? 0 : reads + 1;
    writes = writes + 1 == stages ? 0 : writes + 1;
  }
  if (has_async_copy()) async_wait<0>();
}

// Calls visit(row, column, value, value of the next column) for every pair of neighbours of the
// block's part.
template <class Tile, class Visitor>
__device__ __forceinline__ void for_each_pair(const Accumulators<Tile>& sums,
                                              const Visitor& visit) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int row0 = warp % Tile::kWarpRows * Tile::kWarpM + lane / 4;
  const int column0 = warp / Tile::kWarpRows * Tile::kWarpN + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < Tile::kFragmentsM; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int j = 0; j < Tile::kFragmentsN; ++j) {
        visit(row0 + i * 16 + half * 8, column0 + j * 8, sums.values[i][j][half * 2],
              sums.values[i][j][half * 2 + 1]);
      }
    }
  }
}

}  // namespace acgan::cuda
