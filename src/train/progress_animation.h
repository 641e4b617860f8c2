#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/run_directory.h"

namespace acgan {

// What an animation was made of.
struct AnimationFacts {
  std::int64_t grids = 0;   // that the run has
  std::int64_t frames = 0;  // of them shown
  std::string left_out;     // why one was not shown; empty where all could be
};

// Writes an animation of the run's sample grids (fixed latents, so that each image changes in its
// place) in the order of their steps, from before training to the last, which stays longer. Of many
// or large grids so many are left out, evenly, that a few seconds and some 100 MiB do. Throws
// Error{Output} where there is no grid, or what is there cannot be shown.
AnimationFacts write_progress_animation(const RunDirectory& run, const std::string& path);

// `count` numbers from 0 to `of` - 1, evenly spread, first and last included; all where there are
// no more.
std::vector<std::size_t> evenly_chosen(std::size_t count, std::size_t of);

}  // namespace acgan
