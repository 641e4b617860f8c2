#include "backend/cpu/gemm_blocking.h"

namespace acgan::gemm {
namespace {

// A quarter of a 512 KiB L2 cache for a task's sums; the two blocks of the streamed operand (one
// in use, one being packed) and what passes of the resident one need the rest.
constexpr std::int64_t kTaskSums = 32768;

// Of a task, at most. Measured on one core of a Zen 3: 48, 72 and 96 rows are alike, so the finest
// cut. Columns: the resident strips, which pass once for every block of them, come from L3 for
// weight gradients, so wide blocks; 64, 96 and 128 columns made 75, 77 and 80 GFLOP/s there.
constexpr std::int64_t kStreamRows = 48;
constexpr std::int64_t kStreamColumns = 128;
constexpr std::int64_t kTasksPerThread = 4;

}  // namespace

Blocking choose_blocking(std::int64_t rows, std::int64_t columns, std::int64_t depth, int threads) {
  const Strips strips{rows};
  const Panels panels{columns};
  const bool left = rows >= columns;
  const std::int64_t stream_units = left ? strips.count() : panels.count();
  const std::int64_t resident_units = left ? panels.count() : strips.count();
  const std::int64_t stream_tile = left ? kTileRows : kTileColumns;
  const std::int64_t resident_tile = left ? kTileColumns : kTileRows;

  const std::int64_t fair = ceil_div(stream_units, kTasksPerThread * threads);
  const std::int64_t fitting = kTaskSums / (resident_units * resident_tile * stream_tile);
  const std::int64_t least = ceil_div(kTileColumns, stream_tile);
  const std::int64_t most = (left ? kStreamRows : kStreamColumns) / stream_tile;
  const std::int64_t stream_step = std::min(fair, std::clamp(fitting, least, most));
  const std::int64_t resident_step =
      std::max<std::int64_t>(1, kTaskSums / (stream_step * stream_tile * resident_tile));
  return {.strips = strips,
          .panels = panels,
          .streamed = left ? Side::Left : Side::Right,
          .depth = Pieces(depth, kDepthBlock, kWidth),
          .stream = Pieces(stream_units, stream_step),
          .resident = Pieces(resident_units, resident_step)};
}

}  // namespace acgan::gemm
