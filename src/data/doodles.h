#pragma once

#include <cstdint>

#include "config/config.h"
#include "data/dataset.h"

namespace acgan {

// The built-in data set: ten classes of line drawings, drawn by code in the manner of "Quick,
// Draw!" (white strokes on black, each drawing different); grey, [N,S,S,1]. They need no download
// and are no substitute for people's drawings. A drawing depends on seed, class and its number
// only, not on which classes or how many drawings are wanted.
Dataset load_doodles(const DataConfig& config, std::uint64_t seed);

}  // namespace acgan
