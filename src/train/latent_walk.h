#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace acgan {

// `steps` (at least 2) latents from `from` to `to`, both included: [steps, latent]. They lie on an
// arc, not on the straight line: latents are drawn uniformly from a cube, where nearly all of them
// are equally long, so the middle of a line (shorter by a factor of sqrt 2) is what no training has
// seen. On the arc the length goes evenly from one end's to the other's; in its middle a twelfth of
// the numbers are beyond the cube's side, by less than its half. Shoemake 1985, "Animating rotation
// with quaternion curves". Ends in one line with the origin are joined by the straight line.
std::vector<float> latent_walk(std::span<const float> from, std::span<const float> to,
                               std::int64_t steps);

// What a grid of walks, one a row, is drawn from.
struct WalkGrid {
  std::int64_t rows = 0, columns = 0;
  std::vector<float> z;              // [rows * columns, latent]
  std::vector<float> class_weights;  // [rows * columns, classes]; each row adds up to 1
};

// Each row walks in one class from a latent of z [walks + 1, latent] to the next one; all `labels`
// in turn for each of the walks.
WalkGrid walk_latents(std::span<const float> z, std::int64_t walks,
                      std::span<const std::int32_t> labels, std::int64_t classes,
                      std::int64_t steps);

// Each row keeps a latent of z [rows, latent] and walks through `labels`, at least two, in their
// order: `steps` images from one to the next, both included, in which the weight goes evenly from
// one class to the other. Columns: (labels - 1) * (steps - 1) + 1.
WalkGrid walk_classes(std::span<const float> z, std::int64_t rows,
                      std::span<const std::int32_t> labels, std::int64_t classes,
                      std::int64_t steps);

}  // namespace acgan
