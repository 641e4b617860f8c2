#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/real_data.h"
#include "quality/feature_source.h"
#include "quality/kernel_distance.h"
#include "quality/onnx_features.h"

namespace acgan {

// How near one set of images comes to the held-out real ones, by the features of a net: one that
// learnt from real images alone, or somebody else's. Means nothing without the counts, and is
// compared with figures of the same net, data and counts only.
struct QualityFigures {
  std::int64_t samples = 0;     // images judged
  std::int64_t references = 0;  // held-out real images
  // Share of the images in which the net sees the class they were made for: mean over the classes,
  // and each; none where the labels are not known, or the net knows no classes.
  std::optional<double> class_accuracy;
  std::vector<std::optional<double>> accuracy_by_class;
  double frechet_distance = 0;     // 0: the same distribution (squared, as FID is)
  KernelDistance kernel_distance;  // KID; around 0: the same distribution
  double precision = 0, recall = 0;
  // Mean distance between two images of a class over that of the held-out images: mean over the
  // classes, and each. Near 0: a class always looks the same.
  std::optional<double> diversity;
  std::vector<std::optional<double>> diversity_by_class;
};

// Draws images [n,H,W,C] of these classes; called several times in a row, for further images each
// time.
using MakeFakes = std::function<std::vector<std::uint8_t>(std::span<const std::int32_t> labels)>;

struct QualityOptions {
  std::int64_t samples = 5000;  // fakes, and at most so many real ones for the floor
  std::uint64_t seed = 1;       // of subsets
  std::string cache_folder = default_cache_folder();  // empty: no cache
  std::optional<OnnxNet> feature_net = {};  // in place of the one that learns from the real images
};

// Throws Error{Data} where there are too few images to judge by.
void check_can_judge(const RealData& real);

// Judges images by one set of real ones: trains the feature net (or takes it from the cache, or the
// one that is given) and measures the real images once, then others as often as asked. Throws
// Error{Data} where there are too few images, or where the net that is given sees the same in all
// real ones.
class QualityMeter {
 public:
  static constexpr std::int64_t kFewestImages = 8;

  QualityMeter(Backend& backend, RealData real, const QualityOptions& options);

  // `options.samples` fakes, each class with the share that it has among the held-out images.
  QualityFigures measure(const MakeFakes& make_fakes);
  // Images [N,H,W,C] that lie there already; labels [N], or none where they are not known.
  QualityFigures measure_images(std::span<const std::uint8_t> images,
                                std::span<const std::int32_t> labels);
  // What a perfect generator would get: real images that the net has learnt from, as many of each
  // class as `measure` asks for where there are so many.
  const QualityFigures& floor() const { return floor_; }

  const RealData& real() const { return real_; }  // without its images
  const QualityOptions& options() const { return options_; }
  const FeatureNetFacts& net() const { return net_; }
  // On the held-out images, mean of classes; none where it is no classifier.
  std::optional<double> net_accuracy() const { return net_accuracy_; }

 private:
  std::vector<std::int32_t> labels_of_samples() const;
  QualityFigures judge(const FeatureSet& set) const;
  std::int64_t classes() const { return static_cast<std::int64_t>(real_.train.class_names.size()); }

  RealData real_;
  QualityOptions options_;
  std::unique_ptr<FeatureSource> source_;
  FeatureNetFacts net_;
  FeatureSet reference_;  // of the held-out images
  std::optional<double> net_accuracy_;
  QualityFigures floor_;
};

}  // namespace acgan
