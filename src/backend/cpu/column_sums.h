#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/cpu/parallel.h"

namespace acgan::cpu {

// One task's share of a [rows, columns] array.
struct Tile {
  std::int64_t row_begin, row_end, column_begin, column_end;
  std::int64_t row_tile;  // which run of rows this is
};

// Cuts a [rows, columns] array into tiles. The cut depends on the sizes alone, so that results do
// not depend on the number of threads, and serves both many rows of few columns and the reverse.
class Tiling {
 public:
  Tiling(std::int64_t rows, std::int64_t columns) : rows_(rows), columns_(columns) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t row_tiles() const { return (rows_ + kRows - 1) / kRows; }
  std::int64_t column_tiles() const { return (columns_ + kColumns - 1) / kColumns; }

  template <typename Body>
  void for_each_tile(int threads, const Body& body) const {
    for_each_task(threads, row_tiles() * column_tiles(), rows_ * columns_, [&](std::int64_t k) {
      Tile tile = column_tile(k % column_tiles());
      tile.row_tile = k / column_tiles();
      tile.row_begin = tile.row_tile * kRows;
      tile.row_end = std::min(tile.row_begin + kRows, rows_);
      body(tile);
    });
  }

  // The same with tiles that span all rows.
  template <typename Body>
  void for_each_column_tile(int threads, const Body& body) const {
    for_each_task(threads, column_tiles(), rows_ * columns_,
                  [&](std::int64_t k) { body(column_tile(k)); });
  }

 private:
  static constexpr std::int64_t kRows = 256;
  static constexpr std::int64_t kColumns = 128;  // whole cache lines of the widest type

  Tile column_tile(std::int64_t k) const {
    return {0, rows_, k * kColumns, std::min((k + 1) * kColumns, columns_), 0};
  }

  std::int64_t rows_, columns_;
};

// Sums down the columns of a [rows, columns] array of kSums quantities at a time. Four rows are
// summed in float, everything above in double: nearly as exact as double sums, at the speed of
// float ones.
template <int kSums>
class ColumnSums {
 public:
  explicit ColumnSums(const Tiling& tiling)
      : tiling_(tiling),
        sums_(static_cast<std::size_t>(tiling.row_tiles() * kSums * tiling.columns())) {}

  // Adds up one tile. terms(row, column, lanes, partial) adds to partial[0..kSums) the quantities
  // of one vector; the lanes beyond the last column may hold anything.
  template <typename Terms>
  void add_tile(const Tile& tile, const Terms& terms) {
    double* sums = sums_.data() + tile.row_tile * kSums * tiling_.columns();
    for (std::int64_t row = tile.row_begin; row < tile.row_end; row += kBlockRows) {
      const std::int64_t row_end = std::min(row + kBlockRows, tile.row_end);
      std::int64_t column = tile.column_begin;
      for (; column + kVectors * kLanes <= tile.column_end; column += kVectors * kLanes) {
        add_block<kVectors>(row, row_end, column, AllLanes{}, terms, sums + column);
      }
      for_each_vector(column, tile.column_end, [&](std::int64_t begin, auto lanes) {
        add_block<1>(row, row_end, begin, lanes, terms, sums + begin);
      });
    }
  }

  double total(int sum, std::int64_t column) const {
    double total = 0.0;
    for (std::int64_t tile = 0; tile < tiling_.row_tiles(); ++tile) {
      total += sums_[static_cast<std::size_t>((tile * kSums + sum) * tiling_.columns() + column)];
    }
    return total;
  }

 private:
  static constexpr std::int64_t kBlockRows = 32;  // a block of a tile stays in the first cache
  static constexpr std::int64_t kGroupRows = 4;
  static constexpr int kVectors = 4 / kSums;  // as many accumulators as hide the adder's latency

  template <int kCount, typename Lanes, typename Terms>
  void add_block(std::int64_t row_begin, std::int64_t row_end, std::int64_t column, Lanes lanes,
                 const Terms& terms, double* sums) {
    DoubleSum total[kCount][kSums];
    for (std::int64_t row = row_begin; row < row_end;) {
      const std::int64_t group_end = std::min(row + kGroupRows, row_end);
      Float8 partial[kCount][kSums] = {};
      for (; row < group_end; ++row) {
#pragma GCC unroll 4
        for (int v = 0; v < kCount; ++v) terms(row, column + v * kLanes, lanes, partial[v]);
      }
      for (int v = 0; v < kCount; ++v) {
        for (int sum = 0; sum < kSums; ++sum) total[v][sum].add(partial[v][sum]);
      }
    }
    for (int v = 0; v < kCount; ++v) {
      for (int sum = 0; sum < kSums; ++sum) {
        double* target = sums + sum * tiling_.columns() + v * kLanes;
        for (std::int64_t lane = 0; lane < lanes.count; ++lane) {
          target[lane] += total[v][sum].lane(lane);
        }
      }
    }
  }

  Tiling tiling_;
  std::vector<double> sums_;  // [row tiles, kSums, columns]
};

}  // namespace acgan::cpu
