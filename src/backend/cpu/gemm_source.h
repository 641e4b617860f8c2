#pragma once

#include <cstdint>

#include "backend/conv_geometry.h"
#include "backend/cpu/gemm_vector.h"
#include "backend/cpu/line_queue.h"
#include "tensor/tensor.h"

namespace acgan::gemm {

// A block of a source: `rows` rows from `row`, of each the elements [begin, begin + count).
struct Block {
  std::int64_t row = 0, rows = 0;
  std::int64_t begin = 0, count = 0;
};

// Elements that stay together: kWidth (of a strip), kTileColumns (of a panel), all of a row.
enum class Grouping { Vector, Panel, None };

// Where a block goes: row r starts at data + r * row_stride, its groups are group_stride apart.
struct GroupedPlace {
  float* data = nullptr;
  std::int64_t row_stride = 0;
  Grouping grouping = Grouping::None;
  std::int64_t group_stride = 0;
};

// An operand of a product as it lies in memory: a matrix whose rows are contiguous, at least in
// runs. It need not exist as such; reading widens to float.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual void read(const Block& block, const GroupedPlace& place) const = 0;
  // Adds the memory that read() of this block will touch, where it helps to fetch it ahead.
  virtual void list_lines(const Block&, LineQueue&) const {}
};

// A matrix [rows, stride] in storage type T.
template <typename T>
class PlainSource : public RowSource {
 public:
  PlainSource(const T* data, std::int64_t stride) : data_(data), stride_(stride) {}
  void read(const Block& block, const GroupedPlace& place) const override;
  void list_lines(const Block& block, LineQueue& lines) const override;

 private:
  const T* data_;
  std::int64_t stride_;
};

// The patches of NHWC images that a convolution multiplies with its weights: row (n, i, j) of the
// grid, element (v, u, c) is image[n, i * stride + top + v, j * stride + left + u, c], or 0 outside
// the image. For fixed (n, i, j, v) the inside elements are one contiguous run.
struct PatchGrid {
  std::int64_t image_h = 0, image_w = 0, channels = 0;
  std::int64_t grid_h = 0, grid_w = 0;
  std::int64_t stride = 1;
  std::int64_t top = 0, left = 0;
  std::int64_t patch_h = 0, patch_w = 0;

  std::int64_t positions() const { return grid_h * grid_w; }
  std::int64_t patch_size() const { return patch_h * patch_w * channels; }
};

template <typename T>
class PatchSource : public RowSource {
 public:
  PatchSource(const T* images, const PatchGrid& grid) : images_(images), grid_(grid) {}
  void read(const Block& block, const GroupedPlace& place) const override;
  void list_lines(const Block& block, LineQueue& lines) const override;

 private:
  template <typename Row>
  void read_patch(std::int64_t image, std::int64_t y, std::int64_t x, const Block& block,
                  const Row& to) const;

  const T* images_;
  PatchGrid grid_;
};

// The weights [out_c, kernel, kernel, in_c] of one parity class of a backward-data convolution:
// row (v, u, o) is w[o, row_tap - v * stride, column_tap - u * stride, :], in_c elements.
struct TapGrid {
  std::int64_t out_c = 0, kernel = 0, in_c = 0;
  std::int64_t stride = 1;
  std::int64_t row_tap = 0, column_tap = 0;  // the last taps of the class; they come first
  std::int64_t taps_w = 0;                   // taps of the class along the width
};

template <typename T>
class TapSource : public RowSource {
 public:
  TapSource(const T* weights, const TapGrid& grid) : weights_(weights), grid_(grid) {}
  void read(const Block& block, const GroupedPlace& place) const override;

 private:
  const T* weights_;
  TapGrid grid_;
};

}  // namespace acgan::gemm
