#include "quality/quality_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backend/philox.h"
#include "base/error.h"
#include "data/data_loader.h"
#include "quality/class_figures.h"
#include "quality/frechet_distance.h"
#include "quality/learnt_features.h"
#include "quality/precision_recall.h"

namespace acgan {
namespace {

constexpr std::size_t kChunk = 500;  // fakes in memory at a time

void check_count(std::int64_t count, const char* what) {
  if (count >= QualityMeter::kFewestImages) return;
  fail(ErrorKind::Data,
       "there are {} {}, at least {} are needed to compare distributions: use more", count, what,
       QualityMeter::kFewestImages);
}

// Whether no feature tells one image from another, but for what rounding does.
bool all_alike(const FeatureSet& set) {
  constexpr float kRounding = 1e-6F;
  for (std::int64_t column = 0; column < set.width; ++column) {
    const auto at = static_cast<std::size_t>(column);
    float least = set.row(0)[at], most = least;
    for (std::int64_t i = 1; i < set.count(); ++i) {
      least = std::min(least, set.row(i)[at]);
      most = std::max(most, set.row(i)[at]);
    }
    if (most - least > kRounding * std::max(std::abs(least), std::abs(most))) return false;
  }
  return true;
}

// A net that sees nothing would find all images perfect.
void check_sees(const OnnxNet& net, const FeatureSet& real) {
  if (!all_alike(real)) return;
  fail(
      ErrorKind::Data,
      "'{}' cannot be the feature net: it gives the same features for all {} held-out real images; "
      "does it take pixels of another --feature-scale than {}?",
      net.file, real.count(), net.scale);
}

// One batch.
ImageBatches all_of(std::span<const std::uint8_t> images, std::span<const std::int32_t> labels) {
  return [images, labels](const VisitImages& visit) { visit(images, labels); };
}

std::unique_ptr<FeatureSource> make_source(Backend& backend, const Dataset& train,
                                           const QualityOptions& options) {
  if (!options.feature_net) {
    return std::make_unique<LearntFeatures>(backend, train, options.cache_folder);
  }
  return std::make_unique<OnnxFeatures>(*options.feature_net, train.height, train.width,
                                        train.channels);
}

// Random images of `dataset`, as many of each class as `labels` has, or all there are.
Dataset draw(const Dataset& dataset, const std::vector<std::int32_t>& labels, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(dataset.height * dataset.width * dataset.channels);
  std::vector<std::int64_t> wanted(dataset.class_names.size());
  for (const std::int32_t label : labels) ++wanted[static_cast<std::size_t>(label)];
  std::vector<std::int32_t> order(static_cast<std::size_t>(dataset.count()));
  DataLoader(dataset.count(), seed).next(order);
  Dataset part;
  for (const std::int32_t index : order) {
    const std::int32_t label = dataset.labels[static_cast<std::size_t>(index)];
    if (wanted[static_cast<std::size_t>(label)]-- <= 0) continue;
    const auto first = dataset.images.begin() +
                       static_cast<std::ptrdiff_t>(static_cast<std::size_t>(index) * size);
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

void check_can_judge(const RealData& real) {
  check_count(real.held_out.count(), "held-out images");
  check_count(real.train.count(), "real images beside the held-out ones");
}

QualityMeter::QualityMeter(Backend& backend, RealData real, const QualityOptions& options)
    : real_(std::move(real)), options_(options) {
  check_count(options_.samples, "samples");
  check_can_judge(real_);
  source_ = make_source(backend, real_.train, options_);
  reference_ = source_->extract(all_of(real_.held_out.images, real_.held_out.labels));
  if (options_.feature_net) check_sees(*options_.feature_net, reference_);
  net_ = source_->facts();
  if (!reference_.predicted.empty()) {
    net_accuracy_ = mean_of(accuracy_by_class(reference_, classes()));
  }
  const Dataset part = draw(real_.train, labels_of_samples(), options_.seed);
  floor_ = judge(source_->extract(all_of(part.images, part.labels)));
  for (Dataset* dataset : {&real_.train, &real_.held_out}) dataset->images = {};
}

// Every M-th label of the held-out images, or each several times.
std::vector<std::int32_t> QualityMeter::labels_of_samples() const {
  std::vector<std::int32_t> sorted = reference_.labels;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < options_.samples; ++i) {
    labels.push_back(sorted[static_cast<std::size_t>(i * reference_.count() / options_.samples)]);
  }
  return labels;
}

QualityFigures QualityMeter::measure(const MakeFakes& make_fakes) {
  const std::vector<std::int32_t> labels = labels_of_samples();
  return judge(source_->extract([&](const VisitImages& visit) {
    for (std::size_t begin = 0; begin < labels.size(); begin += kChunk) {
      const auto part = std::span(labels).subspan(begin, std::min(kChunk, labels.size() - begin));
      visit(make_fakes(part), part);
    }
  }));
}

QualityFigures QualityMeter::measure_images(std::span<const std::uint8_t> images,
                                            std::span<const std::int32_t> labels) {
  return judge(source_->extract(all_of(images, labels)));
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
  figures.accuracy_by_class.resize(static_cast<std::size_t>(classes()));
  if (!set.predicted.empty()) figures.accuracy_by_class = accuracy_by_class(set, classes());
  figures.class_accuracy = mean_of(figures.accuracy_by_class);
  figures.diversity_by_class =
      ratios(spread_by_class(set, classes()), spread_by_class(reference_, classes()));
  figures.diversity = mean_of(figures.diversity_by_class);
  return figures;
}

}  // namespace acgan
