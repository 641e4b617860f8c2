#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/cpu/gemm_packing.h"

namespace acgan::gemm {

// A depth block's panel takes half of a 32 KiB L1 cache and stays there while the strips pass by.
// (With AVX-512 three quarters: its strips are higher, so fewer of their bytes pass per product.)
inline constexpr std::int64_t kDepthBlock = kWidth == 16 ? 192 : 256;

// Evenly cut pieces of [0, count), at most `most` each.
struct Pieces {
  std::int64_t count = 0, step = 1;

  Pieces(std::int64_t total, std::int64_t most, std::int64_t multiple = 1) : count(total) {
    const std::int64_t pieces = std::max<std::int64_t>(1, ceil_div(total, most));
    step = std::max(multiple, round_up(ceil_div(total, pieces), multiple));
  }
  std::int64_t number() const { return std::max<std::int64_t>(1, ceil_div(count, step)); }
  Range operator[](std::int64_t piece) const {
    return {piece * step, std::min(count, (piece + 1) * step)};
  }
};

enum class Side { Left, Right };

// How a product is cut. The operand with the larger outer extent (often a weight matrix that does
// not fit the caches) is streamed: a task packs its share of it into private memory, block by
// block. The other one is resident: packed once, by all threads together, and read by all tasks.
// So nothing is packed twice, unless the resident operand is so long that it is cut as well.
struct Blocking {
  Strips strips;
  Panels panels;
  Side streamed = Side::Left;
  Pieces depth;
  Pieces stream, resident;  // strips or panels of a task

  std::int64_t tasks() const { return stream.number() * resident.number(); }
  Range task_strips(std::int64_t task) const {
    return streamed == Side::Left ? stream[stream_piece(task)] : resident[resident_piece(task)];
  }
  Range task_panels(std::int64_t task) const {
    return streamed == Side::Left ? resident[resident_piece(task)] : stream[stream_piece(task)];
  }
  // Floats of one streamed or resident unit, for a block of this depth.
  std::int64_t stream_size(std::int64_t block_depth) const {
    return streamed == Side::Left ? strip_size(block_depth) : panel_size(block_depth);
  }
  std::int64_t resident_size(std::int64_t block_depth) const {
    return streamed == Side::Left ? panel_size(block_depth) : strip_size(block_depth);
  }
  // Sums of a task: rows x stride floats.
  std::int64_t task_rows() const {
    return (streamed == Side::Left ? stream.step : resident.step) * kTileRows;
  }
  std::int64_t task_stride() const {
    return (streamed == Side::Left ? resident.step : stream.step) * kTileColumns + kWidth;
  }

 private:
  // Neighbouring tasks share the streamed piece, which then comes from the cache.
  std::int64_t stream_piece(std::int64_t task) const { return task / resident.number(); }
  std::int64_t resident_piece(std::int64_t task) const { return task % resident.number(); }
};

Blocking choose_blocking(std::int64_t rows, std::int64_t columns, std::int64_t depth, int threads);

}  // namespace acgan::gemm
