#include "cuda/convolution_kernels.h"
#include "cuda/tile/conv_operands.cuh"
#include "cuda/tile/store_rows.cuh"

namespace acgan::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kMostPixels = 256;  // of dy in one block's band

// A band of rows of dx and the rows of dy that reach it.
struct Band {
  int rows_of_dx = 0;   // in one band
  int most_pixels = 0;  // of dy, in one band
};

// As many rows of dx as their pixels of dy fit; none where not even one row does.
Band choose_band(const ConvSizes& s) {
  const int most_rows = kMostPixels / s.out_w;
  if (most_rows >= s.out_h) return {s.in_h, s.out_h * s.out_w};
  const int rows = (most_rows - 1) * s.stride - s.kernel + 1 + s.stride;
  return rows > 0 ? Band{rows, most_rows * s.out_w} : Band{};
}

// Floor and ceiling of a quotient whose numerator may be negative.
__device__ __forceinline__ int floor_div(int n, int d) {
  return n >= 0 ? n / d : -((d - 1 - n) / d);
}
__device__ __forceinline__ int ceil_div(int n, int d) { return -floor_div(-n, d); }

template <int kColumns>
constexpr unsigned kColumnStride = kColumns + 8;  // floats; keeps the stores of a warp apart

// Few input channels (the last layer of the generator has 1 or 3): a product per pixel and phase
// would fill 1 or 3 of the 8 columns that a tensor core takes. Instead every pixel of dy is
// multiplied with all taps at once, [pixel, (r,s,c)] with 16 or 48 columns, and each element of dx
// gathers its four from shared memory. Bound by reading dy once: 2 K bytes a pixel against
// 2 * 16 * C * K operations.
template <typename T, int kColumns>
__global__ void __launch_bounds__(kThreads, 2)
    conv_thin_backward_data_kernel(ConvSizes s, Band band, const T* dy, const T* w, const T* bias,
                                   T* dx) {
  require_tensor_cores();
  SharedArena arena;
  // Filters [out_c, columns], rows padded: ldmatrix reads eight of them without a bank conflict.
  constexpr int kFilterStride = kColumns + 8;
  T* const filters = arena.take<T>(static_cast<unsigned>(s.out_c * kFilterStride));
  float* const products =
      arena.take<float>(static_cast<unsigned>(band.most_pixels) * kColumnStride<kColumns>);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int columns = s.taps() * s.in_c;

  for (int i = thread; i < s.out_c * kColumns; i += kThreads) {
    const int row = i / kColumns, column = i % kColumns;
    filters[row * kFilterStride + column] =
        column < columns ? w[std::int64_t{row} * columns + column] : T{};
  }
  __syncthreads();

  const int image = static_cast<int>(blockIdx.x);
  const int h0 = static_cast<int>(blockIdx.y) * band.rows_of_dx;
  const int h_end = min(h0 + band.rows_of_dx, s.in_h);
  const int p0 = max(ceil_div(h0 + s.pad - s.kernel + 1, s.stride), 0);
  const int p_end = min(floor_div(h_end - 1 + s.pad, s.stride) + 1, s.out_h);
  const int pixels = max(p_end - p0, 0) * s.out_w;
  const T* const band_dy = dy + (std::int64_t{image} * s.out_h + p0) * s.out_w * s.out_c;

  for (int m0 = warp * 16; m0 < pixels; m0 += kWarps * 16) {
    float sums[kColumns / 8][4] = {};
    // Rows lane/4 and lane/4 + 8 of the fragment, straight from global memory: its four lanes read
    // 32 bytes of each row at a time, whole sectors.
    const int row_low = m0 + lane / 4, row_high = row_low + 8;
    const T* const low = band_dy + std::int64_t{row_low} * s.out_c + lane % 4 * 2;
    const T* const high = band_dy + std::int64_t{row_high} * s.out_c + lane % 4 * 2;
    for (int k = 0; k < s.out_c; k += 16) {
      const auto pair = [&](const T* row, int row_index, int offset) -> std::uint32_t {
        const bool inside = row_index < pixels && k + offset < s.out_c;
        return inside ? *reinterpret_cast<const std::uint32_t*>(row + k + offset) : 0u;
      };
      const std::uint32_t a[4] = {pair(low, row_low, 0), pair(high, row_high, 0),
                                  pair(low, row_low, 8), pair(high, row_high, 8)};
      // With 8 channels left the upper half of the fragment is zero: any filter row will do.
      const int filter_row = min(k + lane / 8 % 2 * 8, s.out_c - 8) + lane % 8;
#pragma unroll
      for (int j = 0; j < kColumns / 16; ++j) {
        std::uint32_t b[4];
        ldmatrix_x4_transposed(b, filters + filter_row * kFilterStride + j * 16 + lane / 16 * 8);
        mma_m16n8k16<T>(sums[2 * j], a, b[0], b[1]);
        mma_m16n8k16<T>(sums[2 * j + 1], a, b[2], b[3]);
      }
    }
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
      const unsigned column = static_cast<unsigned>(j * 8 + lane % 4 * 2);
      float* const out =
          products + static_cast<unsigned>(row_low) * kColumnStride<kColumns> + column;
      if (row_low < pixels) *reinterpret_cast<float2*>(out) = make_float2(sums[j][0], sums[j][1]);
      if (row_high < pixels) {
        *reinterpret_cast<float2*>(out + 8 * kColumnStride<kColumns>) =
            make_float2(sums[j][2], sums[j][3]);
      }
    }
  }
  __syncthreads();

  const int row_size = s.in_w * s.in_c;
  for (int i = thread; i < (h_end - h0) * row_size; i += kThreads) {
    const int h = h0 + i / row_size, v = i % row_size / s.in_c, c = i % s.in_c;
    float sum = bias != nullptr ? widen(bias[c]) : 0.0f;
    for (int r = (h + s.pad) % s.stride; r < s.kernel; r += s.stride) {
      const int p = (h + s.pad - r) / s.stride;
      if (h + s.pad < r || p >= s.out_h) continue;
      for (int t = (v + s.pad) % s.stride; t < s.kernel; t += s.stride) {
        const int q = (v + s.pad - t) / s.stride;
        if (v + s.pad < t || q >= s.out_w) continue;
        sum += products[static_cast<unsigned>((p - p0) * s.out_w + q) * kColumnStride<kColumns> +
                        static_cast<unsigned>((r * s.kernel + t) * s.in_c + c)];
      }
    }
    dx[(std::int64_t{image} * s.in_h + h0) * row_size + i] = narrow<T>(sum);
  }
}

template <int kColumns>
std::size_t shared_bytes(const ConvSizes& s, const Band& band) {
  const auto aligned = [](std::size_t bytes) { return (bytes + 127) / 128 * 128; };
  return aligned(static_cast<std::size_t>(s.out_c) * (kColumns + 8) * 2) +
         aligned(static_cast<std::size_t>(band.most_pixels) * kColumnStride<kColumns> * 4);
}

template <typename T, int kColumns>
void launch_typed(const ConvBackwardData& call, const ConvSizes& s, const Band& band,
                  Stream stream) {
  const dim3 grid{static_cast<unsigned>(s.images),
                  static_cast<unsigned>((s.in_h + band.rows_of_dx - 1) / band.rows_of_dx), 1};
  launch(conv_thin_backward_data_kernel<T, kColumns>, grid, dim3{kThreads, 1, 1},
         shared_bytes<kColumns>(s, band), stream, s, band, call.dy.as<T>(), call.w.as<T>(),
         call.bias ? call.bias.as<T>() : nullptr, call.dx.as<T>());
}

// Calls visit with the number of columns that the kernel comes in.
template <typename Visitor>
void visit_columns(int columns, const Visitor& visit) {
  if (columns <= 16) {
    visit(std::integral_constant<int, 16>{});
  } else if (columns <= 48) {
    visit(std::integral_constant<int, 48>{});
  } else {
    visit(std::integral_constant<int, 64>{});
  }
}

}  // namespace

bool thin_backward_data_fits(const ConvGeometry& geometry, std::size_t shared_limit) {
  const ConvSizes s(geometry, 1);
  const Band band = choose_band(s);
  if (s.taps() * s.in_c > 64 || s.out_c % 8 != 0 || band.rows_of_dx == 0) return false;
  if ((s.in_h + band.rows_of_dx - 1) / band.rows_of_dx > 65535) return false;
  bool fits = false;
  visit_columns(s.taps() * s.in_c, [&]<int kColumns>(std::integral_constant<int, kColumns>) {
    fits = shared_bytes<kColumns>(s, band) <= shared_limit;
  });
  return fits;
}

void launch_conv_thin_backward_data(const ConvBackwardData& call, Stream stream) {
  const ConvSizes s(call.geometry, call.dx.rows());
  const Band band = choose_band(s);
  visit_columns(s.taps() * s.in_c, [&]<int kColumns>(std::integral_constant<int, kColumns>) {
    if (call.dx.dtype == DType::F16) {
      launch_typed<Half, kColumns>(call, s, band, stream);
    } else {
      launch_typed<BFloat16, kColumns>(call, s, band, stream);
    }
  });
}

}  // namespace acgan::cuda
