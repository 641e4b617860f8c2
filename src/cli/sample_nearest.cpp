#include "cli/sample_nearest.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "cli/model_checkpoint.h"
#include "config/config_value.h"
#include "config/load_config.h"
#include "data/nearest_images.h"
#include "run/stats_log.h"

namespace acgan {

namespace {

Dataset load_real_images(const Checkpoint& checkpoint, const SampleCommand& command) {
  std::vector<ConfigOverride> overrides;
  if (command.data) overrides.push_back({"--data", "data.path", yaml_quoted(*command.data)});
  const Config config = parse_config(checkpoint.text("config"), checkpoint.source(), overrides);
  return load_dataset(config.data, seed_of(checkpoint));
}

// As many as there are fakes, evenly over the set.
std::vector<std::int64_t> chosen_reals(const Dataset& real, std::size_t fakes) {
  const std::int64_t count = std::min(real.count(), static_cast<std::int64_t>(fakes));
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < count; ++i) indices.push_back(i * real.count() / count);
  return indices;
}

std::string differences_text(const std::vector<NearestImage>& nearest) {
  std::vector<double> differences;
  for (const NearestImage& image : nearest) differences.push_back(image.difference);
  return fmt::format("median {:.1f}, least {:.1f}", quantile(differences, 0.5),
                     quantile(differences, 0));
}

}  // namespace

NearestGrid pair_with_nearest(const ImageGrid& fakes, const Checkpoint& checkpoint,
                              const ModelFacts& facts, const SampleCommand& command) {
  const Dataset real = load_real_images(checkpoint, command);
  check_fits(facts, real, checkpoint.source());
  if (real.count() < 2) {
    fail(ErrorKind::Data, "{}: expected at least two images to look among, found {}",
         real.description, real.count());
  }
  check_is_its_data(checkpoint, real, fingerprint_of(real));
  const std::vector<NearestImage> nearest = nearest_images(real, fakes.pixels);
  const std::vector<NearestImage> among_real =
      nearest_others(real, chosen_reals(real, nearest.size()));

  NearestGrid result{.grid = {.rows = fakes.rows,
                              .columns = 2 * fakes.columns,
                              .side = fakes.side,
                              .channels = fakes.channels,
                              .pixels = {}},
                     .summary = {}};
  const std::size_t bytes = fakes.pixels.size() / nearest.size();
  std::vector<std::uint8_t>& pixels = result.grid.pixels;
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    const auto fake = fakes.pixels.begin() + static_cast<std::ptrdiff_t>(i * bytes);
    const auto real_image = real.images.begin() + static_cast<std::ptrdiff_t>(nearest[i].index) *
                                                      static_cast<std::ptrdiff_t>(bytes);
    pixels.insert(pixels.end(), fake, fake + static_cast<std::ptrdiff_t>(bytes));
    pixels.insert(pixels.end(), real_image, real_image + static_cast<std::ptrdiff_t>(bytes));
  }
  result.summary = fmt::format(
      "data: {}; {} images\n"
      "difference from the nearest real image (root mean square, of 255): {}\n"
      "the same of {} real images from their nearest other one: {}\n"
      "images much nearer to real ones than those are to each other would be memorised\n",
      printable(real.description), real.count(), differences_text(nearest), among_real.size(),
      differences_text(among_real));
  return result;
}

}  // namespace acgan
