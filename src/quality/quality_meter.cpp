#include "quality/quality_meter.h"

#include <algorithm>
#include <utility>

#include "backend/philox.h"
#include "base/error.h"
#include "data/data_loader.h"
#include "quality/class_figures.h"
#include "quality/frechet_distance.h"
#include "quality/precision_recall.h"

namespace acgan {
namespace {

constexpr std::int64_t kChunk = 500;  // fakes in memory at a time

FeatureNetShape shape_of(const Dataset& dataset) {
  ACGAN_CHECK(dataset.height == dataset.width);
  return {.image_size = dataset.height,
          .channels = dataset.channels,
          .classes = static_cast<std::int64_t>(dataset.class_names.size())};
}

void check_count(std::int64_t count, const char* what) {
  if (count >= QualityMeter::kFewestImages) return;
  fail(ErrorKind::Data,
       "there are {} {}, at least {} are needed to compare distributions: use more", count, what,
       QualityMeter::kFewestImages);
}

void append(FeatureSet part, FeatureSet& whole) {
  whole.width = part.width;
  whole.values.insert(whole.values.end(), part.values.begin(), part.values.end());
  whole.labels.insert(whole.labels.end(), part.labels.begin(), part.labels.end());
  whole.predicted.insert(whole.predicted.end(), part.predicted.begin(), part.predicted.end());
}

// Random images of `dataset`, `per_class` of each class or all it has.
Dataset draw(const Dataset& dataset, std::int64_t per_class, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(dataset.height * dataset.width * dataset.channels);
  std::vector<std::int64_t> taken(dataset.class_names.size());
  std::vector<std::int32_t> order(static_cast<std::size_t>(dataset.count()));
  DataLoader(dataset.count(), seed).next(order);
  Dataset part;
  for (const std::int32_t index : order) {
    const std::int32_t label = dataset.labels[static_cast<std::size_t>(index)];
    if (taken[static_cast<std::size_t>(label)]++ >= per_class) continue;
    const auto first = dataset.images.begin() + static_cast<std::ptrdiff_t>(index * size);
    part.images.insert(part.images.end(), first, first + static_cast<std::ptrdiff_t>(size));
    part.labels.push_back(label);
  }
  return part;
}

std::vector<std::optional<double>> ratios(const std::vector<std::optional<double>>& values,
                                          const std::vector<std::optional<double>>& references) {
  std::vector<std::optional<double>> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] && references[i] && *references[i] > 0) result[i] = *values[i] / *references[i];
  }
  return result;
}

}  // namespace

QualityMeter::QualityMeter(Backend& backend, RealData real, const QualityOptions& options)
    : real_(std::move(real)), options_(options), net_(backend, shape_of(real_.train)) {
  check_count(options_.samples, "samples");
  check_count(real_.held_out.count(), "held-out images");
  check_count(real_.train.count(), "real images beside the held-out ones");
  origin_ = load_or_train(net_, real_.train, options_.cache_folder);
  net_id_ = net_.id();
  reference_ = net_.extract(real_.held_out.images, real_.held_out.labels);
  net_accuracy_ = mean_of(accuracy_by_class(reference_, classes())).value_or(0);
}

QualityFigures QualityMeter::measure(const MakeFakes& make_fakes) {
  FeatureSet fakes;
  for (std::int64_t begin = 0; begin < options_.samples; begin += kChunk) {
    std::vector<std::int32_t> labels;
    for (std::int64_t i = begin; i < std::min(begin + kChunk, options_.samples); ++i) {
      labels.push_back(static_cast<std::int32_t>(i % classes()));
    }
    append(net_.extract(make_fakes(labels), labels), fakes);
  }
  return judge(fakes);
}

QualityFigures QualityMeter::measure_images(std::span<const std::uint8_t> images,
                                            std::span<const std::int32_t> labels) {
  return judge(net_.extract(images, labels));
}

const QualityFigures& QualityMeter::floor() {
  if (!floor_) {
    const std::int64_t per_class = (options_.samples + classes() - 1) / classes();
    const Dataset part = draw(real_.train, per_class, options_.seed);
    floor_ = judge(net_.extract(part.images, part.labels));
  }
  return *floor_;
}

QualityFigures QualityMeter::judge(const FeatureSet& set) const {
  check_count(set.count(), "images to judge");
  QualityFigures figures;
  figures.samples = set.count();
  figures.references = reference_.count();
  figures.frechet_distance = acgan::frechet_distance(moments_of(set.values, set.width),
                                                     moments_of(reference_.values, set.width));
  figures.kernel_distance =
      acgan::kernel_distance(set.values, reference_.values, set.width, options_.seed);
  const PrecisionRecall overlap = precision_recall(reference_.values, set.values, set.width);
  figures.precision = overlap.precision;
  figures.recall = overlap.recall;
  if (set.labels.empty()) return figures;
  figures.accuracy_by_class = accuracy_by_class(set, classes());
  figures.class_accuracy = mean_of(figures.accuracy_by_class);
  figures.diversity_by_class =
      ratios(spread_by_class(set, classes()), spread_by_class(reference_, classes()));
  figures.diversity = mean_of(figures.diversity_by_class);
  return figures;
}

}  // namespace acgan
