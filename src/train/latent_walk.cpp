#include "train/latent_walk.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace acgan {
namespace {

double product(std::span<const float> a, std::span<const float> b) {
  return std::transform_reduce(a.begin(), a.end(), b.begin(), 0.0, std::plus(),
                               [](double x, double y) { return x * y; });
}

// Weights of the two ends.
struct Mix {
  double from = 0, to = 0;
};

// At `t` of the way on the arc between two vectors of these lengths and with this angle between
// them, the length going evenly from one to the other.
Mix mix_on_arc(double angle, double from_length, double to_length, double t) {
  const double length = std::lerp(from_length, to_length, t);
  return {.from = std::sin((1 - t) * angle) / std::sin(angle) * length / from_length,
          .to = std::sin(t * angle) / std::sin(angle) * length / to_length};
}

}  // namespace

std::vector<float> latent_walk(std::span<const float> from, std::span<const float> to,
                               std::int64_t steps) {
  ACGAN_CHECK(steps >= 2 && from.size() == to.size());
  const double from_length = std::sqrt(product(from, from)), to_length = std::sqrt(product(to, to));
  const double lengths = from_length * to_length;
  const double cosine = lengths > 0 ? std::clamp(product(from, to) / lengths, -1.0, 1.0) : 1.0;
  constexpr double kNearlyInLine = 1e-6;
  const bool has_arc = 1 - std::abs(cosine) > kNearlyInLine;
  std::vector<float> walk(from.begin(), from.end());  // the ends to the bit
  for (std::int64_t step = 1; step + 1 < steps; ++step) {
    const double t = static_cast<double>(step) / static_cast<double>(steps - 1);
    const Mix mix = has_arc ? mix_on_arc(std::acos(cosine), from_length, to_length, t)
                            : Mix{.from = 1 - t, .to = t};
    for (std::size_t i = 0; i < from.size(); ++i) {
      walk.push_back(static_cast<float>(mix.from * from[i] + mix.to * to[i]));
    }
  }
  walk.insert(walk.end(), to.begin(), to.end());
  return walk;
}

WalkGrid walk_latents(std::span<const float> z, std::int64_t walks,
                      std::span<const std::int32_t> labels, std::int64_t classes,
                      std::int64_t steps) {
  const std::size_t latent = z.size() / static_cast<std::size_t>(walks + 1);
  ACGAN_CHECK(walks >= 1 && latent * static_cast<std::size_t>(walks + 1) == z.size());
  WalkGrid grid{.rows = walks * static_cast<std::int64_t>(labels.size()),
                .columns = steps,
                .z = {},
                .class_weights = {}};
  grid.class_weights.resize(static_cast<std::size_t>(grid.rows * steps * classes), 0.0f);
  std::size_t image = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(walks); ++i) {
    const std::vector<float> walk =
        latent_walk(z.subspan(i * latent, latent), z.subspan((i + 1) * latent, latent), steps);
    for (const std::int32_t label : labels) {
      grid.z.insert(grid.z.end(), walk.begin(), walk.end());
      for (std::int64_t step = 0; step < steps; ++step, ++image) {
        grid.class_weights[image * static_cast<std::size_t>(classes) +
                           static_cast<std::size_t>(label)] = 1;
      }
    }
  }
  return grid;
}

WalkGrid walk_classes(std::span<const float> z, std::int64_t rows,
                      std::span<const std::int32_t> labels, std::int64_t classes,
                      std::int64_t steps) {
  ACGAN_CHECK(rows >= 1 && labels.size() >= 2 && steps >= 2);
  const std::size_t latent = z.size() / static_cast<std::size_t>(rows);
  ACGAN_CHECK(latent * static_cast<std::size_t>(rows) == z.size());
  const std::int64_t columns = static_cast<std::int64_t>(labels.size() - 1) * (steps - 1) + 1;
  std::vector<float> weights(static_cast<std::size_t>(columns * classes), 0.0f);  // of one row
  for (std::int64_t column = 0; column < columns; ++column) {
    const auto from = static_cast<std::size_t>(column / (steps - 1));
    const auto t = static_cast<float>(column % (steps - 1)) / static_cast<float>(steps - 1);
    const std::span<float> of_image =
        std::span(weights).subspan(static_cast<std::size_t>(column * classes));
    of_image[static_cast<std::size_t>(labels[from])] += 1 - t;
    if (t > 0) of_image[static_cast<std::size_t>(labels[from + 1])] += t;
  }
  WalkGrid grid{.rows = rows, .columns = columns, .z = {}, .class_weights = {}};
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const std::span<const float> z_row = z.subspan(row * latent, latent);
    for (std::int64_t column = 0; column < columns; ++column) {
      grid.z.insert(grid.z.end(), z_row.begin(), z_row.end());
    }
    grid.class_weights.insert(grid.class_weights.end(), weights.begin(), weights.end());
  }
  return grid;
}

}  // namespace acgan
