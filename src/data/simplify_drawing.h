#pragma once

#include <optional>
#include <string>

#include "data/drawing.h"

namespace acgan {

// Turns a raw drawing into a simplified one, as Google describes for its data set and, on drawings
// that exist as both, with the very same points: moved to the top left, scaled so that the longer
// side is 255, each stroke resampled at a distance of one unit, thinned out by Ramer, Douglas and
// Peucker with 2 units, rounded to whole numbers. Returns the reason where that cannot be done.
std::optional<std::string> simplify_drawing(Drawing& drawing);

}  // namespace acgan
