#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "data/drawing.h"

namespace acgan {

// Draws simplified drawings as Google drew its 28x28 bitmaps: centred in a box of 256 units with a
// margin of 24, each stroke an antialiased line of 16 units with round caps and joins, white (255)
// on black. At 28 pixels the result equals Google's bitmaps bit for bit; other sizes are drawn at
// theirs. Not for two threads at a time.
class StrokeRaster {
 public:
  explicit StrokeRaster(std::int64_t side);  // pixels
  ~StrokeRaster();
  StrokeRaster(const StrokeRaster&) = delete;
  StrokeRaster& operator=(const StrokeRaster&) = delete;

  // `pixels`: [side,side].
  void draw(const Drawing& drawing, std::span<std::uint8_t> pixels);

 private:
  struct Canvas;
  std::int64_t side_;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace acgan
