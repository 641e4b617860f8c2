#pragma once

#include <cstdint>

#include "backend/conv_geometry.h"
#include "backend/cpu/gemm_source.h"

namespace acgan::gemm {

// Convolutions with few input channels: patches are so small that clipping them at the image's
// border, one by one, would cost more than the product. They work on float copies of the images
// that have the border around them, [N, height, width, in_c].
struct MarginImages {
  std::int64_t height = 0, width = 0, channels = 0;
  std::int64_t pad = 0;  // rows above and columns left of the image

  explicit MarginImages(const ConvGeometry& geometry);
  std::int64_t floats() const { return height * width * channels; }  // of one image
};

// image [in_h, in_w, in_c] with zeros around it.
template <typename T>
void add_margins(const ConvGeometry& geometry, const T* image, float* padded);

// The image [in_h, in_w, in_c] without its margins, plus bias [in_c] or nothing.
template <typename T>
void remove_margins(const ConvGeometry& geometry, const float* padded, const float* bias, T* image);

// padded = sum of the patches [out_h, out_w, kernel, kernel, in_c], each at its place.
void add_patches(const ConvGeometry& geometry, const float* patches, float* padded);

// Patches of images with margins as an operand; see PatchSource.
class ThinPatchSource : public RowSource {
 public:
  // Whole runs of four floats, and a patch fits a small buffer.
  static bool supports(const ConvGeometry& geometry);

  ThinPatchSource(const float* padded, const ConvGeometry& geometry)
      : padded_(padded), geometry_(geometry), images_(geometry) {}
  void read(const Block& block, const GroupedPlace& place) const override;

 private:
  const float* padded_;
  ConvGeometry geometry_;
  MarginImages images_;
};

}  // namespace acgan::gemm
