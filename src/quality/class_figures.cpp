#include "quality/class_figures.h"

#include <cmath>

#include "base/check.h"
#include "quality/parallel_tasks.h"

namespace acgan {
namespace {

constexpr std::size_t kMostImages = 1000;  // of a class

double distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = double{a[i]} - double{b[i]};
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

}  // namespace

std::vector<std::optional<double>> accuracy_by_class(const FeatureSet& set, std::int64_t classes) {
  ACGAN_CHECK(set.labels.size() == set.predicted.size());
  std::vector<double> images(static_cast<std::size_t>(classes)), hits(images.size());
  for (std::size_t i = 0; i < set.labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(set.labels[i]);
    images[label] += 1;
    hits[label] += set.predicted[i] == set.labels[i] ? 1 : 0;
  }
  std::vector<std::optional<double>> accuracy(images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (images[i] > 0) accuracy[i] = hits[i] / images[i];
  }
  return accuracy;
}

std::vector<std::optional<double>> spread_by_class(const FeatureSet& set, std::int64_t classes) {
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < set.labels.size(); ++i) {
    auto& of_class = rows[static_cast<std::size_t>(set.labels[i])];
    if (of_class.size() < kMostImages) of_class.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::optional<double>> spread(rows.size());
  for_each_task(classes, [&](std::int64_t label) {
    const std::vector<std::int64_t>& of_class = rows[static_cast<std::size_t>(label)];
    double sum = 0, pairs = 0;
    for (std::size_t i = 0; i < of_class.size(); ++i) {
      for (std::size_t j = i + 1; j < of_class.size(); ++j) {
        sum += distance(set.row(of_class[i]), set.row(of_class[j]));
        pairs += 1;
      }
    }
    if (pairs > 0) spread[static_cast<std::size_t>(label)] = sum / pairs;
  });
  return spread;
}

std::optional<double> mean_of(const std::vector<std::optional<double>>& values) {
  double sum = 0, count = 0;
  for (const std::optional<double>& value : values) {
    if (!value) continue;
    sum += *value;
    count += 1;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

}  // namespace acgan
