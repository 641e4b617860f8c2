#include "train/evaluation.h"

#include <algorithm>

namespace acgan {
namespace {

constexpr std::uint64_t kFakeLatents = 1;  // grids have block 0 of the same stream

}  // namespace

MakeFakes fakes_from(Sampler& sampler, std::int64_t latent_dim, std::uint64_t seed) {
  PhiloxSequence random(seed, RandomStream::SampleLatents, kFakeLatents);
  return [&sampler, latent_dim, random](std::span<const std::int32_t> labels) mutable {
    std::vector<float> z(labels.size() * static_cast<std::size_t>(latent_dim));
    for (float& value : z) value = uniform_symmetric(random.next());
    const std::vector<float> images = sampler.generate(z, labels);
    std::vector<std::uint8_t> pixels(images.size());
    std::transform(images.begin(), images.end(), pixels.begin(), to_pixel);
    return pixels;
  };
}

Evaluation::Evaluation(Backend& backend, const DataConfig& data, std::uint64_t data_seed)
    : meter_(backend, load_real_data(data, data_seed), {}) {}

void Evaluation::open(const std::string& metrics_file, std::int64_t last_step) {
  log_ = std::make_unique<LineLog>(metrics_file, "", last_step, step_of_quality);
}

QualityFigures Evaluation::run(Sampler& sampler, std::int64_t latent_dim, GeneratorWeights weights,
                               const Progress& progress) {
  const std::uint64_t seed = meter_.options().seed;
  const QualityRecord record{.source = "training",
                             .step = progress.step,
                             .elapsed_seconds = progress.elapsed_seconds,
                             .seed = seed,
                             .weights = name_of(weights),
                             .generator_saw_held_out = meter_.real().generator_saw_held_out,
                             .figures = meter_.measure(fakes_from(sampler, latent_dim, seed))};
  log_->add(quality_json(record, meter_));
  return record.figures;
}

}  // namespace acgan
