#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "backend/backend.h"
#include "cuda/tile/vector_access.cuh"

// How blocks of threads walk a matrix [rows, channels] so that each thread keeps to its columns and
// neighbouring threads read neighbouring memory, whatever the number of channels. So many rows are
// joined into a wide one that its width is a multiple of kWidth: a thread then owns kWidth
// neighbouring columns of the wide matrix, each of one channel, and reads them in one access. With
// 1, 3 or 1023 channels as with 64.
namespace acgan::cuda {

inline constexpr unsigned kColumnThreads = 256;
inline constexpr dim3 kColumnBlock{kColumnThreads, 1, 1};
inline constexpr std::int64_t kMaximumPartials = 2048;  // partial sums of one channel

struct ColumnTiling {
  std::int64_t rows = 0;
  int channels = 0;
  int join = 1;                 // rows in a wide one
  int width = 0;                // of a wide row: channels * join
  std::int64_t wide_rows = 0;   // whole ones; rows % join are left over
  unsigned groups = 0;          // of neighbouring columns, one thread each
  unsigned block_groups = 0;    // of which a block has so many
  unsigned lanes = 0;           // threads of a block that share a group
  unsigned column_blocks = 0;   // blocks side by side
  std::int64_t block_rows = 0;  // wide rows of a block
  unsigned splits = 0;          // blocks below one another
  std::int64_t partials = 0;    // splits * join: partial results seen as [partials, channels]

  dim3 grid() const { return {column_blocks * splits, 1, 1}; }
};

enum class RemainingRows { LeftOver, AsLastWideRow };

// The same on every GPU, and so are the sums.
struct TilingGoal {
  std::int64_t blocks;       // enough to fill a GPU
  std::int64_t thread_rows;  // wide rows that a thread should have at least
  std::int64_t partials;     // at most
  RemainingRows remaining;
};
inline constexpr TilingGoal kReduce{1024, 2, kMaximumPartials, RemainingRows::LeftOver};
// Blocks that only stream have nothing to merge: so many that the last ones end at the same time.
inline constexpr TilingGoal kStream{4096, 2, std::int64_t{1} << 20, RemainingRows::AsLastWideRow};

inline ColumnTiling tile_columns(std::int64_t rows, std::int64_t channels, int width,
                                 const TilingGoal& goal) {
  ColumnTiling t;
  t.rows = rows;
  t.channels = static_cast<int>(channels);
  t.join = width / std::gcd(t.channels, width);
  t.width = t.channels * t.join;
  const std::int64_t added = goal.remaining == RemainingRows::AsLastWideRow ? t.join - 1 : 0;
  t.wide_rows = (rows + added) / t.join;
  t.groups = static_cast<unsigned>(t.width / width);
  t.column_blocks = (t.groups + 31) / 32;
  t.block_groups = (t.groups + t.column_blocks - 1) / t.column_blocks;
  t.lanes = kColumnThreads / t.block_groups;
  const std::int64_t least_rows = t.lanes * goal.thread_rows;
  const std::int64_t most =
      std::min((t.wide_rows + least_rows - 1) / least_rows, goal.partials / t.join);
  const std::int64_t splits =
      std::clamp<std::int64_t>(goal.blocks / t.column_blocks, 1, std::max<std::int64_t>(most, 1));
  const std::int64_t share = (t.wide_rows + splits - 1) / splits;
  t.block_rows = std::max<std::int64_t>((share + t.lanes - 1) / t.lanes, 1) * t.lanes;
  t.splits = static_cast<unsigned>((t.wide_rows + t.block_rows - 1) / t.block_rows);
  t.partials = std::int64_t{t.splits} * t.join;
  return t;
}

// A thread's place: columns [column, column + kWidth) and wide rows begin, begin + lanes, ...
struct ColumnPlace {
  unsigned lane, split;
  int column;
  std::int64_t begin, end;
  bool active;
};

template <int kWidth>
__device__ __forceinline__ ColumnPlace column_place(const ColumnTiling& t) {
  ColumnPlace place;
  place.split = blockIdx.x / t.column_blocks;
  place.lane = threadIdx.x / t.block_groups;
  const unsigned group =
      blockIdx.x % t.column_blocks * t.block_groups + threadIdx.x % t.block_groups;
  place.active = group < t.groups && place.lane < t.lanes;
  place.column = static_cast<int>(group) * kWidth;
  const std::int64_t first = place.split * t.block_rows;
  place.begin = first + place.lane;
  place.end = place.active ? std::min(first + t.block_rows, t.wide_rows) : 0;
  return place;
}

// channel(v, c): the thread's column v is of channel c.
template <int kWidth, typename Channel>
__device__ __forceinline__ void for_own_channels(const ColumnTiling& t, const ColumnPlace& place,
                                                 const Channel& channel) {
  if (!place.active) return;
  int c = place.column % t.channels;
#pragma unroll
  for (int v = 0; v < kWidth; ++v) {
    channel(v, c);
    if (++c == t.channels) c = 0;
  }
}

// body(row, Constant<n>) for the thread's wide rows, n of them at a time (row, row + lanes, ...),
// so that n loads are under way at once.
template <int kBatch, typename Body>
__device__ __forceinline__ void for_own_rows(const ColumnTiling& t, const ColumnPlace& place,
                                             const Body& body) {
  std::int64_t row = place.begin;
  const std::int64_t step = t.lanes;
  for (; row + (kBatch - 1) * step < place.end; row += kBatch * step) body(row, Constant<kBatch>{});
  for (; row < place.end; row += step) body(row, Constant<1>{});
}

// body(index of the first element, 0, Constant<kWidth>) for wide row `row`; where the matrix ends
// within it, body(index, v, Constant<1>) for each of its columns v that is there.
template <int kWidth, typename Body>
__device__ __forceinline__ void for_row_elements(const ColumnTiling& t, const ColumnPlace& place,
                                                 std::int64_t row, const Body& body) {
  const std::int64_t begin = row * t.width + place.column;
  const std::int64_t count = t.rows * t.channels;
  if (begin + kWidth <= count) {
    body(begin, 0, Constant<kWidth>{});
    return;
  }
  if constexpr (kWidth > 1) {
#pragma unroll
    for (int v = 0; v < kWidth; ++v) {
      if (begin + v < count) body(begin + v, v, Constant<1>{});
    }
  }
}

// Combines the values of all lanes of each group in a fixed tree; lane 0 then has the result.
// merge(value, other): takes the values of another lane in.
template <int kValues, typename Merge>
__device__ __forceinline__ void combine_lanes(unsigned lanes, unsigned lane, unsigned lane_stride,
                                              float (&value)[kValues], const Merge& merge) {
  using Values = float[kValues][kColumnThreads];  // neighbours in a row: no bank conflicts
  SHARED(Values, shared);
  const auto publish = [&] {
#pragma unroll
    for (int i = 0; i < kValues; ++i) shared[i][threadIdx.x] = value[i];
  };
  unsigned half = 1;
  while (half * 2 < lanes) half *= 2;
  if (lane >= half) publish();
  for (; half > 0; half /= 2) {
    __syncthreads();
    if (lane >= half) continue;
    if (lane + half < lanes) {
      float other[kValues];
#pragma unroll
      for (int i = 0; i < kValues; ++i) other[i] = shared[i][threadIdx.x + half * lane_stride];
      merge(value, other);
    }
    if (lane >= half / 2) publish();
  }
}

struct AddValues {
  template <int kValues>
  __device__ __forceinline__ void operator()(float (&value)[kValues],
                                             const float (&other)[kValues]) const {
#pragma unroll
    for (int i = 0; i < kValues; ++i) value[i] += other[i];
  }
};

// ---- the second pass: partial results [partials, channels], one for each wide row of splits

struct FinishPlace {
  int channel;
  unsigned lane, lanes, block_channels;
  bool active;
};

inline constexpr unsigned kFinishChannels = 8;  // of a block: 32 bytes, one sector

inline dim3 finish_grid(int channels) {
  return {(static_cast<unsigned>(channels) + kFinishChannels - 1) / kFinishChannels, 1, 1};
}

__device__ __forceinline__ FinishPlace finish_place(int channels) {
  FinishPlace place;
  const auto all = static_cast<unsigned>(channels);
  place.block_channels = all < kFinishChannels ? all : kFinishChannels;
  place.channel =
      static_cast<int>(blockIdx.x * kFinishChannels + threadIdx.x % place.block_channels);
  place.lane = threadIdx.x / place.block_channels;
  place.lanes = kColumnThreads / place.block_channels;
  place.active = place.channel < channels && place.lane < place.lanes;
  return place;
}

// Writes value = sum [channels], or adds it to what is there.
__device__ __forceinline__ void write_sum(float* value, float sum, Accumulation accumulation) {
  *value = accumulation == Accumulation::Add ? *value + sum : sum;
}

}  // namespace acgan::cuda
