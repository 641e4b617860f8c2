#include <algorithm>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/gemm_packing.h"
#include "backend/cpu/gemm_sink.h"
#include "backend/cpu/gemm_source.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/thin_patches.h"
#include "backend/cpu/widened_bias.h"

namespace acgan {
namespace {

using gemm::SourceRows;

void check_images(const Tensor& images, std::int64_t count, std::int64_t height, std::int64_t width,
                  std::int64_t channels) {
  ACGAN_CHECK(images.shape == (Shape{count, height, width, channels}));
}

void check_convolution(const ConvGeometry& g, const Tensor& x, const Tensor& w, const Tensor& y) {
  ACGAN_CHECK(g.kernel > 0 && g.stride > 0 && g.pad >= 0 && g.in_c > 0 && g.out_c > 0);
  check_images(x, x.rows(), g.in_h, g.in_w, g.in_c);
  check_images(y, x.rows(), g.out_h, g.out_w, g.out_c);
  ACGAN_CHECK(w.shape == (Shape{g.out_c, g.kernel, g.kernel, g.in_c}));
}

std::int64_t patch_size(const ConvGeometry& g) { return g.kernel * g.kernel * g.in_c; }

// The patches of x that one output pixel sees.
gemm::PatchGrid input_patches(const ConvGeometry& g) {
  return {.image_h = g.in_h,
          .image_w = g.in_w,
          .channels = g.in_c,
          .grid_h = g.out_h,
          .grid_w = g.out_w,
          .stride = g.stride,
          .top = -g.pad,
          .left = -g.pad,
          .patch_h = g.kernel,
          .patch_w = g.kernel};
}

// Backward data, one axis, of the input positions p, p + stride, ...: the taps that reach them are
// first_tap, first_tap + stride, ..., and input position p + a * stride meets tap
// first_tap + t * stride at output position a + offset - t. So each of the stride^2 classes of
// pixels is a convolution of dy with stride 1, and nothing is multiplied by structural zeros.
struct ParityClass {
  std::int64_t positions = 0;
  std::int64_t first_tap = 0, taps = 0;
  std::int64_t offset = 0;

  ParityClass(const ConvGeometry& g, std::int64_t extent, std::int64_t p)
      : positions(p < extent ? gemm::ceil_div(extent - p, g.stride) : 0),
        first_tap((p + g.pad) % g.stride),
        taps(first_tap < g.kernel ? gemm::ceil_div(g.kernel - first_tap, g.stride) : 0),
        offset((p + g.pad - first_tap) / g.stride) {}

  std::int64_t last_tap(std::int64_t stride) const { return first_tap + (taps - 1) * stride; }
  std::int64_t patch_begin() const { return offset - taps + 1; }
};

// Sources and sink of one parity class: rows are its pixels, columns in_c, depth (taps, out_c).
// Taps go downwards, so that the positions of dy go upwards and lie in runs.
struct ClassGeometry {
  gemm::PatchGrid patches;
  gemm::TapGrid taps;
  gemm::PixelGrid pixels;

  ClassGeometry(const ConvGeometry& g, std::int64_t top, std::int64_t left) {
    const ParityClass rows(g, g.in_h, top);
    const ParityClass columns(g, g.in_w, left);
    patches = {.image_h = g.out_h,
               .image_w = g.out_w,
               .channels = g.out_c,
               .grid_h = rows.positions,
               .grid_w = columns.positions,
               .stride = 1,
               .top = rows.patch_begin(),
               .left = columns.patch_begin(),
               .patch_h = rows.taps,
               .patch_w = columns.taps};
    taps = {.out_c = g.out_c,
            .kernel = g.kernel,
            .in_c = g.in_c,
            .stride = g.stride,
            .row_tap = rows.last_tap(g.stride),
            .column_tap = columns.last_tap(g.stride),
            .taps_w = columns.taps};
    pixels = {.image_h = g.in_h,
              .image_w = g.in_w,
              .channels = g.in_c,
              .grid_h = rows.positions,
              .grid_w = columns.positions,
              .stride = g.stride,
              .top = top,
              .left = left};
  }
};

// With few input channels a parity class would fill a fraction of a tile's columns.
bool patches_fill_tiles_better(const ConvGeometry& g) {
  const std::int64_t taps = g.kernel * g.kernel;
  const std::int64_t by_classes = taps * gemm::round_up(g.in_c, gemm::kTileColumns);
  const std::int64_t by_patches = gemm::round_up(taps * g.in_c, gemm::kTileColumns);
  return by_patches * 5 < by_classes * 4;
}

// Calls visitor(source) with the operand whose rows are the patches of x. `margins` is working
// memory for thin convolutions.
template <typename T, typename Visitor>
void with_patches(const ConvGeometry& geometry, const Tensor& x, ScratchMemory& margins,
                  int threads, const Visitor& visitor) {
  const T* const images = x.as<T>();
  if (!gemm::ThinPatchSource::supports(geometry)) {
    return visitor(gemm::PatchSource<T>(images, input_patches(geometry)));
  }
  const std::int64_t padded_size = gemm::MarginImages(geometry).floats();
  float* const padded = margins.floats(x.rows() * padded_size);
  cpu::for_each_task(threads, x.rows(), x.count(), [&](std::int64_t n) {
    gemm::add_margins(geometry, images + n * x.row_size(), padded + n * padded_size);
  });
  visitor(gemm::ThinPatchSource(padded, geometry));
}

}  // namespace

// y [N * out_h * out_w, out_c] = patches of x times w^T.
void CpuBackend::conv2d_forward(const ConvGeometry& geometry, const Tensor& x, const Tensor& w,
                                const Tensor& bias, Activation activation, const Tensor& y) {
  check_convolution(geometry, x, w, y);
  ACGAN_CHECK(!bias || bias.count() == geometry.out_c);
  const gemm::WidenedBias widened(bias);
  visit_dtype(w.dtype, [&]<typename T>(T) {
    const gemm::PlainSource<T> weights(w.as<T>(), patch_size(geometry));
    const gemm::MatrixSink<T> sink(y.as<T>(), geometry.out_c,
                                   {.bias = widened.data(), .activation = activation});
    with_patches<T>(geometry, x, thin_scratch_, threads(), [&](const auto& patches) {
      gemm_.multiply({.rows = x.rows() * geometry.out_h * geometry.out_w,
                      .columns = geometry.out_c,
                      .depth = patch_size(geometry),
                      .left = {&patches, SourceRows::Outer},
                      .right = {&weights, SourceRows::Outer},
                      .sink = &sink},
                     threads());
    });
  });
}

void CpuBackend::conv2d_backward_data(const ConvGeometry& geometry, const Tensor& dy,
                                      const Tensor& w, const Tensor& bias, const Tensor& dx) {
  check_convolution(geometry, dx, w, dy);
  ACGAN_CHECK(!bias || bias.count() == geometry.in_c);
  if (patches_fill_tiles_better(geometry)) {
    return backward_data_by_patches(geometry, dy, w, bias, dx);
  }
  const gemm::WidenedBias widened(bias);
  visit_dtype(w.dtype, [&]<typename T>(T) {
    for (std::int64_t top = 0; top < std::min(geometry.stride, geometry.in_h); ++top) {
      for (std::int64_t left = 0; left < std::min(geometry.stride, geometry.in_w); ++left) {
        const ClassGeometry part(geometry, top, left);
        const gemm::PatchSource<T> gradients(dy.as<T>(), part.patches);
        const gemm::TapSource<T> weights(w.as<T>(), part.taps);
        const gemm::PixelSink<T> sink(dx.as<T>(), part.pixels, {.bias = widened.data()});
        gemm_.multiply({.rows = dy.rows() * part.patches.positions(),
                        .columns = geometry.in_c,
                        .depth = part.patches.patch_size(),
                        .left = {&gradients, SourceRows::Outer},
                        .right = {&weights, SourceRows::Depth},
                        .sink = &sink},
                       threads());
      }
    }
  });
}

// For few input channels: the products of dy with all taps, [N * out_h * out_w, kernel^2 * in_c],
// then they are added up where the patches overlap.
void CpuBackend::backward_data_by_patches(const ConvGeometry& geometry, const Tensor& dy,
                                          const Tensor& w, const Tensor& bias, const Tensor& dx) {
  const std::int64_t size = patch_size(geometry);
  const std::int64_t positions = geometry.out_h * geometry.out_w;
  const gemm::WidenedBias widened(bias);
  const std::int64_t padded_size = gemm::MarginImages(geometry).floats();
  float* const products = thin_scratch_.floats(dy.rows() * (positions * size + padded_size));
  float* const sums = products + dy.rows() * positions * size;
  visit_dtype(w.dtype, [&]<typename T>(T) {
    const gemm::PlainSource<T> gradients(dy.as<T>(), geometry.out_c);
    const gemm::PlainSource<T> weights(w.as<T>(), size);
    gemm_.multiply({.rows = dy.rows() * positions,
                    .columns = size,
                    .depth = geometry.out_c,
                    .left = {&gradients, SourceRows::Outer},
                    .right = {&weights, SourceRows::Depth},
                    .output = products},
                   threads());
    T* const images = dx.as<T>();
    cpu::for_each_task(threads(), dx.rows(), dx.count(), [&](std::int64_t n) {
      float* const padded = sums + n * padded_size;
      gemm::add_patches(geometry, products + n * positions * size, padded);
      gemm::remove_margins(geometry, padded, widened.data(), images + n * dx.row_size());
    });
  });
}

// dw [out_c, patch] = dy^T [out_c, N * out_h * out_w] times patches of x; of a thin convolution the
// transpose, so that the many channels fill the tile's columns.
void CpuBackend::conv2d_backward_weight(const ConvGeometry& geometry, const Tensor& x,
                                        const Tensor& dy, const Tensor& dw,
                                        Accumulation accumulation) {
  check_convolution(geometry, x, dw, dy);
  ACGAN_CHECK(dw.dtype == DType::F32);
  const std::int64_t size = patch_size(geometry);
  visit_dtype(x.dtype, [&]<typename T>(T) {
    const gemm::PlainSource<T> gradients(dy.as<T>(), geometry.out_c);
    const gemm::TransposedSink<float> transposed(dw.as<float>(), size,
                                                 {.accumulation = accumulation});
    with_patches<T>(geometry, x, thin_scratch_, threads(), [&](const auto& patches) {
      Product product{.rows = geometry.out_c,
                      .columns = size,
                      .depth = x.rows() * geometry.out_h * geometry.out_w,
                      .left = {&gradients, SourceRows::Depth},
                      .right = {&patches, SourceRows::Depth},
                      .output = dw.as<float>(),
                      .accumulation = accumulation};
      if (size < geometry.out_c) {
        std::swap(product.rows, product.columns);
        std::swap(product.left, product.right);
        product.sink = &transposed;
        product.output = nullptr;
      }
      gemm_.multiply(product, threads());
    });
  });
}

}  // namespace acgan
