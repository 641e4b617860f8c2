#include "backend/cpu/thin_patches.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/gemm_packing.h"
#include "backend/cpu/grouped_row.h"

namespace acgan::gemm {
namespace {

constexpr std::int64_t kMaxPatch = 64;  // floats

// By fours as far as possible: most runs are four or twelve floats.
void add_run(const float* part, std::int64_t count, float* sums) {
  std::int64_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    for (std::int64_t lane = 0; lane < kRun; ++lane) sums[i + lane] += part[i + lane];
  }
  for (; i < count; ++i) sums[i] += part[i];
}

}  // namespace

MarginImages::MarginImages(const ConvGeometry& g)
    : height(std::max((g.out_h - 1) * g.stride + g.kernel, g.pad + g.in_h)),
      width(std::max((g.out_w - 1) * g.stride + g.kernel, g.pad + g.in_w)),
      channels(g.in_c),
      pad(g.pad) {}

template <typename T>
void add_margins(const ConvGeometry& g, const T* image, float* padded) {
  const MarginImages margins(g);
  const std::int64_t row_size = g.in_w * g.in_c;
  std::fill_n(padded, margins.floats(), 0.0f);
  for (std::int64_t y = 0; y < g.in_h; ++y) {
    float* const line = padded + ((y + g.pad) * margins.width + g.pad) * g.in_c;
    GroupedRow<0>(line, 0).copy(0, row_size, image + y * row_size);
  }
}

template <typename T>
void remove_margins(const ConvGeometry& g, const float* padded, const float* bias, T* image) {
  const MarginImages margins(g);
  const std::int64_t row_size = g.in_w * g.in_c;
  for (std::int64_t y = 0; y < g.in_h; ++y, image += row_size) {
    const float* const line = padded + ((y + g.pad) * margins.width + g.pad) * g.in_c;
    for (std::int64_t i = 0, c = 0; i < row_size; ++i, c = c + 1 == g.in_c ? 0 : c + 1) {
      image[i] = from_float<T>(bias == nullptr ? line[i] : line[i] + bias[c]);
    }
  }
}

void add_patches(const ConvGeometry& g, const float* patches, float* padded) {
  const MarginImages margins(g);
  const std::int64_t run = g.kernel * g.in_c;  // of one row of a patch, also in the image
  const std::int64_t patch = g.kernel * run;
  const std::int64_t apart = ceil_div(g.kernel, g.stride);
  std::fill_n(padded, margins.floats(), 0.0f);
  for (std::int64_t i = 0; i < g.out_h; ++i) {
    for (std::int64_t kh = 0; kh < g.kernel; ++kh) {
      float* const line = padded + (i * g.stride + kh) * margins.width * g.in_c;
      const float* const row = patches + i * g.out_w * patch + kh * run;
      // Neighbouring patches overlap; a load that spans what was just stored would wait for it.
      for (std::int64_t first = 0; first < apart; ++first) {
        for (std::int64_t j = first; j < g.out_w; j += apart) {
          add_run(row + j * patch, run, line + j * g.stride * g.in_c);
        }
      }
    }
  }
}

bool ThinPatchSource::supports(const ConvGeometry& g) {
  return g.kernel * g.in_c % kRun == 0 && g.kernel * g.kernel * g.in_c <= kMaxPatch;
}

void ThinPatchSource::read(const Block& block, const GroupedPlace& place) const {
  const ConvGeometry& g = geometry_;
  const std::int64_t run = g.kernel * g.in_c;
  const std::int64_t line = images_.width * g.in_c;
  const bool whole = block.begin == 0 && block.count == g.kernel * run;
  std::int64_t image = block.row / (g.out_h * g.out_w);
  std::int64_t i = block.row % (g.out_h * g.out_w) / g.out_w;
  std::int64_t j = block.row % g.out_w;
  for_each_row(block, place, [&](std::int64_t, const auto& to) {
    const float* from =
        padded_ + image * images_.floats() + i * g.stride * line + j * g.stride * g.in_c;
    if (whole) {
      for (std::int64_t v = 0, at = 0; v < g.kernel; ++v, from += line) {
        for (std::int64_t k = 0; k < run; k += kRun, at += kRun) to.copy_run(at, from + k);
      }
    } else {
      float patch[kMaxPatch];
      for (std::int64_t v = 0; v < g.kernel; ++v) {
        std::copy_n(from + v * line, run, patch + v * run);
      }
      to.copy(0, block.count, patch + block.begin);
    }
    if (++j < g.out_w) return;
    j = 0;
    if (++i < g.out_h) return;
    i = 0;
    ++image;
  });
}

template void add_margins(const ConvGeometry&, const float*, float*);
template void add_margins(const ConvGeometry&, const Half*, float*);
template void add_margins(const ConvGeometry&, const BFloat16*, float*);
template void remove_margins(const ConvGeometry&, const float*, const float*, float*);
template void remove_margins(const ConvGeometry&, const float*, const float*, Half*);
template void remove_margins(const ConvGeometry&, const float*, const float*, BFloat16*);

}  // namespace acgan::gemm
