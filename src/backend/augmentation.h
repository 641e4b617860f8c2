#pragma once

#include "backend/philox.h"
#include "backend/step_state.h"
#include "base/host_device.h"

namespace acgan {

// Which of DiffAugment's changes (Zhao et al. 2020, section 3.2) a batch of images gets.
struct Augmentation {
  bool color = false;        // brightness, saturation and contrast
  bool translation = false;  // by up to an eighth of the side; zeros come in
  bool cutout = false;       // a square of half the side is zero

  bool any() const { return color || translation || cutout; }
};

// What one image of `side` x `side` pixels in [0,1] gets:
//   z = contrast * (saturation * x + (1 - saturation) * mean over channels)
//       + (1 - contrast) * mean of the image + brightness
//   y[h, w] = z[h - down, w - right], zero where that lies outside or in the square cut out.
struct ImageAugmentation {
  float brightness = 0.0f, saturation = 1.0f, contrast = 1.0f;
  int down = 0, right = 0;
  int cut_top = 0, cut_left = 0, cut_side = 0;
  int side = 0;

  ACGAN_HOST_DEVICE bool shows(int h, int w) const {
    const bool cut =
        h >= cut_top && h < cut_top + cut_side && w >= cut_left && w < cut_left + cut_side;
    const int from_h = h - down, from_w = w - right;
    return !cut && from_h >= 0 && from_h < side && from_w >= 0 && from_w < side;
  }
};

// An integer in [low, high] from a random word.
ACGAN_HOST_DEVICE inline int integer_between(std::uint32_t word, int low, int high) {
  const auto count = static_cast<std::uint64_t>(high - low + 1);
  return low + static_cast<int>((std::uint64_t{word} * count) >> 32);
}

// The numbers of image `index` of a batch at state.step: blocks 2 * index and 2 * index + 1.
ACGAN_HOST_DEVICE inline ImageAugmentation draw_augmentation(const RandomState& state,
                                                             const Augmentation& kinds,
                                                             std::int64_t index, int side) {
  const auto block = static_cast<std::uint32_t>(2 * index);
  const auto first = philox_block(state.seed, RandomStream::Augmentation, state.step, block);
  const auto second = philox_block(state.seed, RandomStream::Augmentation, state.step, block + 1);
  ImageAugmentation drawn;
  drawn.side = side;
  if (kinds.color) {  // the paper's ranges, which are for pixels in [-1,1]
    drawn.brightness = 0.25f * uniform_symmetric(first[0]);
    drawn.saturation = 1.0f + uniform_symmetric(first[1]);
    drawn.contrast = 1.0f + 0.5f * uniform_symmetric(first[2]);
  }
  if (kinds.translation) {
    const int most = (side + 4) / 8;
    drawn.down = integer_between(second[0], -most, most);
    drawn.right = integer_between(second[1], -most, most);
  }
  if (kinds.cutout) {  // its middle lies anywhere in the image
    drawn.cut_side = side / 2;
    drawn.cut_top = integer_between(second[2], 0, side - 1) - drawn.cut_side / 2;
    drawn.cut_left = integer_between(second[3], 0, side - 1) - drawn.cut_side / 2;
  }
  return drawn;
}

}  // namespace acgan
