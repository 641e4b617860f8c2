#pragma once

#include <cstdint>

#include "backend/conv_geometry.h"
#include "cuda/tile/fast_divisor.cuh"
#include "tensor/tensor.h"

// A convolution as a matrix product c [outer_a, outer_b] = sum over depth of a * b (implicit GEMM,
// Chetlur et al. 2014, "cuDNN: Efficient primitives for deep learning", section 3). An operand says
// where its elements lie: line(outer) is what a thread keeps of one outer index, step(depth) of one
// depth index, at(line, step) the address of the element, null where it is zero, base() any
// readable address. kDepthContiguous: neighbours in depth are neighbours in memory; otherwise
// neighbours in the outer index are. Depths and outer indices beyond the end give null.
namespace acgan::cuda {

// Sizes of one convolution in 32 bits; indices of pixels and taps stay below 2^31.
struct ConvSizes {
  int images = 0, in_h = 0, in_w = 0, in_c = 0, out_h = 0, out_w = 0, out_c = 0;
  int kernel = 0, stride = 1, pad = 0;

  ConvSizes() = default;
  ConvSizes(const ConvGeometry& g, std::int64_t batch)
      : images(static_cast<int>(batch)),
        in_h(static_cast<int>(g.in_h)),
        in_w(static_cast<int>(g.in_w)),
        in_c(static_cast<int>(g.in_c)),
        out_h(static_cast<int>(g.out_h)),
        out_w(static_cast<int>(g.out_w)),
        out_c(static_cast<int>(g.out_c)),
        kernel(static_cast<int>(g.kernel)),
        stride(static_cast<int>(g.stride)),
        pad(static_cast<int>(g.pad)) {}

  ACGAN_HOST_DEVICE int out_pixels() const { return images * out_h * out_w; }
  ACGAN_HOST_DEVICE int taps() const { return kernel * kernel; }
};

// Position of a number in mixed radix (image, row, column).
struct PixelIndex {
  FastDivisor per_image, per_row;

  PixelIndex() = default;
  PixelIndex(int rows, int columns) : per_image(rows * columns), per_row(columns) {}

  struct Position {
    int image, row, column;
  };
  __device__ __forceinline__ Position of(int index) const {
    const int image = per_image.quotient(index);
    const int rest = per_image.remainder(index, image);
    const int row = per_row.quotient(rest);
    return {image, row, per_row.remainder(rest, row)};
  }
};

// Position of a depth index (row tap, column tap, channel).
struct TapIndex {
  FastDivisor per_tap, per_row;

  TapIndex() = default;
  TapIndex(int columns, int channels) : per_tap(channels), per_row(columns) {}

  struct Position {
    int row, column, channel;
  };
  __device__ __forceinline__ Position of(int index) const {
    const int tap = per_tap.quotient(index);
    const int row = per_row.quotient(tap);
    return {row, per_row.remainder(tap, row), per_tap.remainder(index, tap)};
  }
};

// 0 <= index < size
__device__ __forceinline__ bool lies_in(int index, int size) {
  return static_cast<unsigned>(index) < static_cast<unsigned>(size);
}

// ---- forward: c [output pixel, out_c], depth (r, s, in_c)

// x [N,H,W,C] seen through the taps of each output pixel.
template <typename T>
struct ForwardPatches {
  static constexpr bool kDepthContiguous = true;
  using Element = T;
  const T* x;
  ConvSizes sizes;
  PixelIndex pixels;
  TapIndex taps;
  int depth;

  ForwardPatches(const ConvSizes& s, const T* input)
      : x(input),
        sizes(s),
        pixels(s.out_h, s.out_w),
        taps(s.kernel, s.in_c),
        depth(s.taps() * s.in_c) {}

  struct Line {
    const T* image;  // null: beyond the last pixel
    int top, left;
  };
  using Step = TapIndex::Position;

  __device__ __forceinline__ const T* base() const { return x; }
  __device__ __forceinline__ Line line(int outer) const {
    if (outer >= sizes.out_pixels()) return {nullptr, 0, 0};
    const PixelIndex::Position p = pixels.of(outer);
    const std::int64_t image_size = std::int64_t{sizes.in_h} * sizes.in_w * sizes.in_c;
    return {x + p.image * image_size, p.row * sizes.stride - sizes.pad,
            p.column * sizes.stride - sizes.pad};
  }
  __device__ __forceinline__ Step step(int index) const {
    if (index >= depth) return {1 << 24, 0, 0};  // far below any image
    return taps.of(index);
  }
  __device__ __forceinline__ const T* at(const Line& line, const Step& step) const {
    const int h = line.top + step.row, w = line.left + step.column;
    const bool inside = line.image != nullptr && lies_in(h, sizes.in_h) && lies_in(w, sizes.in_w);
    return inside ? line.image + (h * sizes.in_w + w) * sizes.in_c + step.channel : nullptr;
  }
};

// w [out_c, (r,s,in_c)] as it lies.
template <typename T>
struct ForwardFilters {
  static constexpr bool kDepthContiguous = true;
  using Element = T;
  const T* w;
  int rows, depth;

  ForwardFilters(const ConvSizes& s, const T* weights)
      : w(weights), rows(s.out_c), depth(s.taps() * s.in_c) {}

  using Line = const T*;
  using Step = int;
  __device__ __forceinline__ const T* base() const { return w; }
  __device__ __forceinline__ Line line(int outer) const {
    return outer < rows ? w + std::int64_t{outer} * depth : nullptr;
  }
  __device__ __forceinline__ Step step(int index) const { return index < depth ? index : -1; }
  __device__ __forceinline__ const T* at(Line line, Step step) const {
    return line != nullptr && step >= 0 ? line + step : nullptr;
  }
};

// ---- backward data: input pixels whose row and column are congruent modulo the stride (a phase)
// meet the same taps. c [pixel of the phase, in_c], depth (row tap of the phase, column tap,
// out_c).

// Along one axis: input position h = index * stride + phase meets the taps first + stride * a, for
// a < count, at output position index + shift - a.
struct PhaseAxis {
  int first = 0, count = 0, shift = 0, extent = 0;

  ACGAN_HOST_DEVICE PhaseAxis() {}
  ACGAN_HOST_DEVICE PhaseAxis(int phase, int size, int kernel, int stride, int pad) {
    first = (phase + pad) % stride;
    count = first < kernel ? (kernel - first + stride - 1) / stride : 0;
    shift = (phase + pad - first) / stride;
    extent = phase < size ? (size - phase + stride - 1) / stride : 0;
  }
};

struct BackwardPhase {
  int row = 0, column = 0;  // of the phase
  PhaseAxis rows, columns;

  __device__ __forceinline__ BackwardPhase(const ConvSizes& s, int index)
      : row(index / s.stride), column(index % s.stride) {
    rows = PhaseAxis(row, s.in_h, s.kernel, s.stride, s.pad);
    columns = PhaseAxis(column, s.in_w, s.kernel, s.stride, s.pad);
  }
  __device__ __forceinline__ int pixels(const ConvSizes& s) const {
    return s.images * rows.extent * columns.extent;
  }
  __device__ __forceinline__ int depth(const ConvSizes& s) const {
    return rows.count * columns.count * s.out_c;
  }
};

// dy [N,P,Q,K] seen from the pixels of a phase.
template <typename T>
struct BackwardPatches {
  static constexpr bool kDepthContiguous = true;
  using Element = T;
  const T* dy;
  ConvSizes sizes;
  BackwardPhase phase;
  FastDivisor per_channel;
  int pixels, depth;

  __device__ __forceinline__ BackwardPatches(const ConvSizes& s, const BackwardPhase& p,
                                             const FastDivisor& channels, const T* gradient)
      : dy(gradient),
        sizes(s),
        phase(p),
        per_channel(channels),
        pixels(p.pixels(s)),
        depth(p.depth(s)) {}

  struct Line {
    int image;        // negative: beyond the last pixel
    int row, column;  // output position of tap 0
  };
  struct Step {
    int row, column, channel;
  };

  // Pixels are found once a thread, by plain division; taps once a step, few of them.
  __device__ __forceinline__ const T* base() const { return dy; }
  __device__ __forceinline__ Line line(int outer) const {
    if (outer >= pixels) return {-1, 0, 0};
    const int per_image = phase.rows.extent * phase.columns.extent;
    const int image = outer / per_image, rest = outer % per_image;
    return {image, rest / phase.columns.extent + phase.rows.shift,
            rest % phase.columns.extent + phase.columns.shift};
  }
  __device__ __forceinline__ Step step(int index) const {
    if (index >= depth) return {1 << 24, 0, 0};
    const int tap = per_channel.quotient(index);
    const int row = tap / phase.columns.count;
    return {row, tap - row * phase.columns.count, per_channel.remainder(index, tap)};
  }
  __device__ __forceinline__ const T* at(const Line& line, const Step& step) const {
    const int p = line.row - step.row, q = line.column - step.column;
    const bool inside = line.image >= 0 && lies_in(p, sizes.out_h) && lies_in(q, sizes.out_w);
    const std::int64_t pixel = (std::int64_t{line.image} * sizes.out_h + p) * sizes.out_w + q;
    return inside ? dy + pixel * sizes.out_c + step.channel : nullptr;
  }
};

// w [K,R,S,C] at the taps of a phase; contiguous in the input channel.
template <typename T>
struct BackwardFilters {
  static constexpr bool kDepthContiguous = false;
  using Element = T;
  const T* w;
  ConvSizes sizes;
  BackwardPhase phase;
  FastDivisor per_channel;
  int depth;

  __device__ __forceinline__ BackwardFilters(const ConvSizes& s, const BackwardPhase& p,
                                             const FastDivisor& channels, const T* weights)
      : w(weights), sizes(s), phase(p), per_channel(channels), depth(p.depth(s)) {}

  using Line = int;
  using Step = int;  // offset; a filter array has fewer than 2^31 elements
  __device__ __forceinline__ const T* base() const { return w; }
  __device__ __forceinline__ Line line(int outer) const { return outer < sizes.in_c ? outer : -1; }
  __device__ __forceinline__ Step step(int index) const {
    if (index >= depth) return -1;
    const int tap = per_channel.quotient(index), channel = per_channel.remainder(index, tap);
    const int a = tap / phase.columns.count, b = tap - a * phase.columns.count;
    const int r = phase.rows.first + sizes.stride * a, s = phase.columns.first + sizes.stride * b;
    return ((channel * sizes.kernel + r) * sizes.kernel + s) * sizes.in_c;
  }
  __device__ __forceinline__ const T* at(Line line, Step step) const {
    return line >= 0 && step >= 0 ? w + (step + line) : nullptr;
  }
};

// ---- backward weight: c [out_c, (r,s,in_c)], depth: output pixels, of which a block takes a range

// dy [pixel, out_c] as it lies.
template <typename T>
struct WeightGradients {
  static constexpr bool kDepthContiguous = false;
  using Element = T;
  const T* dy;
  int channels, end;

  __device__ __forceinline__ WeightGradients(const ConvSizes& s, int depth_end, const T* gradient)
      : dy(gradient), channels(s.out_c), end(depth_end) {}

  using Line = int;
  using Step = const T*;
  __device__ __forceinline__ const T* base() const { return dy; }
  __device__ __forceinline__ Line line(int outer) const { return outer < channels ? outer : -1; }
  __device__ __forceinline__ Step step(int index) const {
    return index < end ? dy + std::int64_t{index} * channels : nullptr;
  }
  __device__ __forceinline__ const T* at(Line line, Step step) const {
    return line >= 0 && step != nullptr ? step + line : nullptr;
  }
};

// x [N,H,W,C] through the taps: outer index is the tap and channel, depth the output pixel.
template <typename T>
struct WeightPatches {
  static constexpr bool kDepthContiguous = false;
  using Element = T;
  const T* x;
  ConvSizes sizes;
  PixelIndex pixels;
  TapIndex taps;
  int columns, end;

  __device__ __forceinline__ WeightPatches(const ConvSizes& s, const PixelIndex& p,
                                           const TapIndex& t, int depth_end, const T* input)
      : x(input), sizes(s), pixels(p), taps(t), columns(s.taps() * s.in_c), end(depth_end) {}

  struct Line {
    int row, column, channel;
  };
  struct Step {
    const T* image;
    int top, left;
  };
  __device__ __forceinline__ const T* base() const { return x; }
  __device__ __forceinline__ Line line(int outer) const {
    if (outer >= columns) return {1 << 24, 0, 0};
    const TapIndex::Position tap = taps.of(outer);
    return {tap.row, tap.column, tap.channel};
  }
  __device__ __forceinline__ Step step(int index) const {
    if (index >= end) return {nullptr, 0, 0};
    const PixelIndex::Position p = pixels.of(index);
    const std::int64_t image_size = std::int64_t{sizes.in_h} * sizes.in_w * sizes.in_c;
    return {x + p.image * image_size, p.row * sizes.stride - sizes.pad,
            p.column * sizes.stride - sizes.pad};
  }
  __device__ __forceinline__ const T* at(const Line& line, const Step& step) const {
    const int h = step.top + line.row, w = step.left + line.column;
    const bool inside = step.image != nullptr && lies_in(h, sizes.in_h) && lies_in(w, sizes.in_w);
    return inside ? step.image + (h * sizes.in_w + w) * sizes.in_c + line.channel : nullptr;
  }
};

}  // namespace acgan::cuda
