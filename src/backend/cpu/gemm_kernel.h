#pragma once

#include <cstdint>

#include "backend/cpu/gemm_vector.h"

namespace acgan::gemm {

// c[rows, kTileColumns] (row stride `stride`) = or += strip x panel (gemm_packing.h) over `depth`
// values. On the way it prefetches lines[0, depth / kWidth), unless null, one with each group.
using TileKernel = void (*)(std::int64_t depth, const float* strip, const float* panel, float* c,
                            std::int64_t stride, const void* const* lines);

enum class TileStore { Overwrite, Add };

// The kernel for a strip of `rows` in [1, kTileRows].
TileKernel tile_kernel(std::int64_t rows, TileStore store);

}  // namespace acgan::gemm
