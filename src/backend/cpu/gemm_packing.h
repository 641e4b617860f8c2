#pragma once

#include <cstdint>

#include "backend/cpu/gemm_source.h"
#include "backend/cpu/gemm_vector.h"

namespace acgan::gemm {

// Which axis of the product the rows of a source run along: the outer one (rows of the left
// operand, columns of the right one), so that they are contiguous along the depth, or the depth.
enum class SourceRows { Outer, Depth };

struct Operand {
  const RowSource* source = nullptr;
  SourceRows rows = SourceRows::Outer;
};

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

// Packed operands, for the kernel in gemm_kernel.h.
// Strip: some rows of the left operand, [depth / kWidth][kTileRows][kWidth]. Every row contributes
//   kWidth neighbouring values at a time, so that rows that are contiguous along the depth are
//   packed by whole vectors, and the kernel's broadcasts read one sequential stream.
// Panel: kTileColumns columns of the right operand, [depth][kTileColumns].
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return ceil_div(value, multiple) * multiple;
}

// The rows of a product, cut into strips whose heights differ by at most one: a last strip of one
// or two rows would leave most multiply-adds of its kernel waiting for each other.
struct Strips {
  std::int64_t rows = 0;
  std::int64_t count() const { return ceil_div(rows, kTileRows); }
  std::int64_t begin(std::int64_t strip) const { return strip * rows / count(); }
  std::int64_t height(std::int64_t strip) const { return begin(strip + 1) - begin(strip); }
};

// The columns of a product, cut into panels; the last one may be narrower.
struct Panels {
  std::int64_t columns = 0;
  std::int64_t count() const { return ceil_div(columns, kTileColumns); }
};

// Floats from one packed strip or panel of this depth to the next. A panel of 256 would be 16 KiB,
// and one row's stores to several panels would fall on one set of the L1 cache: hence the padding.
inline std::int64_t strip_size(std::int64_t depth) { return round_up(depth, kWidth) * kTileRows; }
inline std::int64_t panel_size(std::int64_t depth) {
  return (round_up(depth, kWidth) + 1) * kTileColumns;
}

// Packs some strips or panels, one after the other, for one block of the depth. The work is cut
// into slices so that it can go on between the kernel calls for an earlier block: the memory's
// latency then hides behind them.
class BlockPacking {
 public:
  // Floats of working memory for packing up to `units` strips or panels of this depth.
  static std::int64_t scratch_floats(std::int64_t units, std::int64_t depth);

  BlockPacking() = default;
  BlockPacking(const Operand& operand, const Strips& strips, const Range& range, const Range& depth,
               float* packed, float* scratch);
  BlockPacking(const Operand& operand, const Panels& panels, const Range& range, const Range& depth,
               float* packed, float* scratch);

  std::int64_t slices() const { return slices_; }
  void pack(std::int64_t slice) const;
  void list_lines(std::int64_t slice, LineQueue& lines) const;  // that it reads
  void pack_all() const;

 private:
  enum class Kind { CopyStrip, TransposeStrips, CopyPanels, TransposePanel };

  Block source_block(std::int64_t slice) const;
  void transpose_strips(std::int64_t slice) const;
  void copy_panels(std::int64_t slice) const;
  void transpose_panel(std::int64_t slice) const;

  Kind kind_ = Kind::CopyStrip;
  const RowSource* source_ = nullptr;
  Strips strips_;
  Range range_, depth_;
  Range outer_;  // rows or columns of the product
  float* packed_ = nullptr;
  float* scratch_ = nullptr;
  std::int64_t slices_ = 0;
};

}  // namespace acgan::gemm
