#include "backend/cpu/gemm_source.h"

#include <algorithm>

#include "backend/cpu/grouped_row.h"

namespace acgan::gemm {
namespace {

// Stands in for a GroupedRow to list what would be copied.
struct ListedRow {
  template <typename T>
  void copy(std::int64_t begin, std::int64_t end, const T* source) const {
    lines.add(source, source + (end - begin));
  }
  void zero(std::int64_t, std::int64_t) const {}

  LineQueue& lines;
};

// The patch of one row of a PatchGrid.
struct PatchWalker {
  PatchWalker(const PatchGrid& grid, std::int64_t row)
      : grid(grid),
        image(row / grid.positions()),
        i(row % grid.positions() / grid.grid_w),
        j(row % grid.grid_w) {}

  std::int64_t y() const { return i * grid.stride + grid.top; }
  std::int64_t x() const { return j * grid.stride + grid.left; }
  void advance() {
    if (++j < grid.grid_w) return;
    j = 0;
    if (++i < grid.grid_h) return;
    i = 0;
    ++image;
  }

  const PatchGrid& grid;
  std::int64_t image, i, j;
};

}  // namespace

template <typename T>
void PlainSource<T>::read(const Block& block, const GroupedPlace& place) const {
  const T* const source = data_ + block.row * stride_ + block.begin;
  for_each_row(block, place, [&](std::int64_t row, const auto& to) {
    to.copy(0, block.count, source + row * stride_);
  });
}

template <typename T>
void PlainSource<T>::list_lines(const Block& block, LineQueue& lines) const {
  const T* const source = data_ + block.row * stride_ + block.begin;
  for (std::int64_t row = 0; row < block.rows; ++row) {
    ListedRow{lines}.copy(0, block.count, source + row * stride_);
  }
}

template <typename T>
void PatchSource<T>::read(const Block& block, const GroupedPlace& place) const {
  PatchWalker patch(grid_, block.row);
  for_each_row(block, place, [&](std::int64_t, const auto& to) {
    read_patch(patch.image, patch.y(), patch.x(), block, to);
    patch.advance();
  });
}

template <typename T>
void PatchSource<T>::list_lines(const Block& block, LineQueue& lines) const {
  // Long pieces are left to the processor's own prefetcher: listing them costs 3 % and gains none.
  if (2 * block.count > grid_.patch_w * grid_.channels) return;
  PatchWalker patch(grid_, block.row);
  for (std::int64_t row = 0; row < block.rows; ++row, patch.advance()) {
    read_patch(patch.image, patch.y(), patch.x(), block, ListedRow{lines});
  }
}

template <typename T>
template <typename Row>
void PatchSource<T>::read_patch(std::int64_t image, std::int64_t y, std::int64_t x,
                                const Block& block, const Row& to) const {
  const std::int64_t run = grid_.patch_w * grid_.channels;
  const std::int64_t inside_begin = std::clamp<std::int64_t>(-x, 0, grid_.patch_w) * grid_.channels;
  const std::int64_t inside_end =
      std::clamp<std::int64_t>(grid_.image_w - x, 0, grid_.patch_w) * grid_.channels;
  std::int64_t v = block.begin / run;
  std::int64_t from = block.begin - v * run;  // first element wanted of this run
  for (std::int64_t at = 0; at < block.count; ++v, from = 0) {
    const std::int64_t length = std::min(run - from, block.count - at);
    const std::int64_t image_y = y + v;
    if (image_y < 0 || image_y >= grid_.image_h) {
      to.zero(at, at + length);
    } else {
      const std::int64_t low = std::clamp<std::int64_t>(inside_begin - from, 0, length);
      const std::int64_t high = std::clamp(inside_end - from, low, length);
      const std::int64_t offset =
          ((image * grid_.image_h + image_y) * grid_.image_w + x) * grid_.channels + from + low;
      if (low > 0) to.zero(at, at + low);
      if (low < high) to.copy(at + low, at + high, images_ + offset);
      if (high < length) to.zero(at + high, at + length);
    }
    at += length;
  }
}

template <typename T>
void TapSource<T>::read(const Block& block, const GroupedPlace& place) const {
  for_each_row(block, place, [&](std::int64_t row, const auto& to) {
    const std::int64_t tap = (block.row + row) / grid_.out_c;
    const std::int64_t out = (block.row + row) % grid_.out_c;
    const std::int64_t kh = grid_.row_tap - tap / grid_.taps_w * grid_.stride;
    const std::int64_t kw = grid_.column_tap - tap % grid_.taps_w * grid_.stride;
    const std::int64_t offset = ((out * grid_.kernel + kh) * grid_.kernel + kw) * grid_.in_c;
    to.copy(0, block.count, weights_ + offset + block.begin);
  });
}

template class PlainSource<float>;
template class PlainSource<Half>;
template class PlainSource<BFloat16>;
template class PatchSource<float>;
template class PatchSource<Half>;
template class PatchSource<BFloat16>;
template class TapSource<float>;
template class TapSource<Half>;
template class TapSource<BFloat16>;

}  // namespace acgan::gemm
