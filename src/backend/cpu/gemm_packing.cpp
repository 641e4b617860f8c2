#include "backend/cpu/gemm_packing.h"

#include <algorithm>

namespace acgan::gemm {
namespace {

// Writes rows [0, height) of a strip's group from kWidth source rows in `lines`.
void transpose_group(const float* lines, std::int64_t stride, std::int64_t height, float* group) {
  for (std::int64_t first = 0; first < height; first += kWidth) {
    Vector block[kWidth];
    for (int row = 0; row < kWidth; ++row) block[row] = load(lines + row * stride + first);
    transpose(block);
    const std::int64_t count = std::min<std::int64_t>(kWidth, height - first);
    for (std::int64_t i = 0; i < count; ++i) store(group + (first + i) * kWidth, block[i]);
  }
}

}  // namespace

std::int64_t BlockPacking::scratch_floats(std::int64_t units, std::int64_t depth) {
  const std::int64_t transposed_strips = kWidth * (units * kTileRows + 3 * kWidth);
  return std::max(transposed_strips, panel_size(depth));
}

BlockPacking::BlockPacking(const Operand& operand, const Strips& strips, const Range& range,
                           const Range& depth, float* packed, float* scratch)
    : kind_(operand.rows == SourceRows::Outer ? Kind::CopyStrip : Kind::TransposeStrips),
      source_(operand.source),
      strips_(strips),
      range_(range),
      depth_(depth),
      outer_{strips.begin(range.begin), strips.begin(range.end)},
      packed_(packed),
      scratch_(scratch) {
  if (depth.size() == 0) return;
  slices_ = kind_ == Kind::CopyStrip ? range.size() : ceil_div(depth.size(), kWidth);
}

BlockPacking::BlockPacking(const Operand& operand, const Panels& panels, const Range& range,
                           const Range& depth, float* packed, float* scratch)
    : kind_(operand.rows == SourceRows::Outer ? Kind::TransposePanel : Kind::CopyPanels),
      source_(operand.source),
      range_(range),
      depth_(depth),
      outer_{range.begin * kTileColumns, std::min(range.end * kTileColumns, panels.columns)},
      packed_(packed),
      scratch_(scratch) {
  if (depth.size() == 0) return;
  slices_ = kind_ == Kind::TransposePanel ? range.size() : ceil_div(depth.size(), kWidth);
}

// What a slice reads: one strip or panel, or kWidth rows along the depth.
Block BlockPacking::source_block(std::int64_t slice) const {
  switch (kind_) {
    case Kind::CopyStrip: {
      const std::int64_t strip = range_.begin + slice;
      return {strips_.begin(strip), strips_.height(strip), depth_.begin, depth_.size()};
    }
    case Kind::TransposePanel: {
      const std::int64_t first = outer_.begin + slice * kTileColumns;
      return {first, std::min<std::int64_t>(kTileColumns, outer_.end - first), depth_.begin,
              depth_.size()};
    }
    default: {
      const std::int64_t first = depth_.begin + slice * kWidth;
      return {first, std::min<std::int64_t>(kWidth, depth_.end - first), outer_.begin,
              outer_.size()};
    }
  }
}

void BlockPacking::pack(std::int64_t slice) const {
  switch (kind_) {
    case Kind::CopyStrip:  // vectors go straight to their place
      return source_->read(source_block(slice), {packed_ + slice * strip_size(depth_.size()),
                                                 kWidth, Grouping::Vector, kTileRows * kWidth});
    case Kind::TransposeStrips:
      return transpose_strips(slice);
    case Kind::CopyPanels:
      return copy_panels(slice);
    case Kind::TransposePanel:
      return transpose_panel(slice);
  }
}

void BlockPacking::list_lines(std::int64_t slice, LineQueue& lines) const {
  if (slice < slices_) source_->list_lines(source_block(slice), lines);
}

void BlockPacking::pack_all() const {
  for (std::int64_t slice = 0; slice < slices_; ++slice) pack(slice);
}

// One group of every strip.
void BlockPacking::transpose_strips(std::int64_t slice) const {
  const std::int64_t stride = round_up(outer_.size(), kWidth) + 2 * kWidth;  // loads reach beyond
  const std::int64_t size = strip_size(depth_.size());
  source_->read(source_block(slice), {scratch_, stride, Grouping::None, 0});
  float* group = packed_ + slice * kTileRows * kWidth;
  for (std::int64_t strip = range_.begin; strip < range_.end; ++strip, group += size) {
    transpose_group(scratch_ + strips_.begin(strip) - outer_.begin, stride, strips_.height(strip),
                    group);
  }
}

// kWidth rows, spread over the panels. The columns that the last panel lacks are zero, since
// leftover denormals would slow the kernel down.
void BlockPacking::copy_panels(std::int64_t slice) const {
  const std::int64_t size = panel_size(depth_.size());
  float* const place = packed_ + slice * kWidth * kTileColumns;
  if (outer_.size() % kTileColumns != 0) {
    std::fill_n(place + (range_.size() - 1) * size, kWidth * kTileColumns, 0.0f);
  }
  source_->read(source_block(slice), {place, kTileColumns, Grouping::Panel, size});
}

// Widened into scratch as [depth / kWidth][kTileColumns][kWidth], then transposed block by block.
void BlockPacking::transpose_panel(std::int64_t slice) const {
  constexpr std::int64_t kGroup = kTileColumns * kWidth;
  const Block source = source_block(slice);
  const std::int64_t groups = ceil_div(depth_.size(), kWidth);
  if (source.rows < kTileColumns) std::fill_n(scratch_, groups * kGroup, 0.0f);
  source_->read(source, {scratch_, kWidth, Grouping::Vector, kGroup});
  float* const panel = packed_ + slice * panel_size(depth_.size());
  for (std::int64_t at = 0; at < groups * kTileColumns; at += kWidth) {  // a row of the scratch
    Vector block[kWidth];
    for (int row = 0; row < kWidth; ++row) block[row] = load(scratch_ + (at + row) * kWidth);
    transpose(block);
    float* const place = panel + at / kTileColumns * kGroup + at % kTileColumns;
    for (int k = 0; k < kWidth; ++k) store(place + k * kTileColumns, block[k]);
  }
}

}  // namespace acgan::gemm
