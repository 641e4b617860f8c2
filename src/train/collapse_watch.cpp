#include "train/collapse_watch.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/format.h"
#include "base/printable.h"

namespace acgan {
namespace {

// Standard deviations of 0..255: far below what drawings or photographs have (tens), above what
// rounding makes.
constexpr double kFlat = 1.5, kSame = 1.5;

// Sums of which the standard deviation is made.
struct Spread {
  double count = 0, sum = 0, squares = 0;

  void add(double value) {
    count += 1;
    sum += value;
    squares += value * value;
  }
  double deviation() const {
    return std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
  }
};

// Over the pixels of one image.
double contrast(std::span<const std::uint8_t> image) {
  Spread spread;
  for (const std::uint8_t pixel : image) spread.add(pixel);
  return spread.deviation();
}

}  // namespace

void CollapseWatch::add(const StepRecord& record) {
  images_seen_ += batch_;
  fakes_ += batch_;
  correct_fakes_ += static_cast<double>(record.accuracy_fake) * static_cast<double>(batch_);
}

std::vector<std::string> CollapseWatch::check(std::span<const std::uint8_t> pixels,
                                              std::int64_t rows) {
  std::vector<std::string> sentences;
  if (images_seen_ < kEnoughImages) return sentences;
  check_grid(pixels, static_cast<std::size_t>(rows), sentences);
  check_classifier(sentences);
  fakes_ = 0;
  correct_fakes_ = 0;
  return sentences;
}

void CollapseWatch::check_grid(std::span<const std::uint8_t> pixels, std::size_t rows,
                               std::vector<std::string>& sentences) const {
  const std::size_t classes = class_names_.size();
  const std::size_t size = pixels.size() / (rows * classes);
  ACGAN_CHECK(size > 0 && size * rows * classes == pixels.size());
  std::vector<std::size_t> flat, same;
  for (std::size_t c = 0; c < classes; ++c) {
    const auto image = [&](std::size_t row) {
      return pixels.subspan((row * classes + c) * size, size);
    };
    double most_contrast = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      most_contrast = std::max(most_contrast, contrast(image(row)));
    }
    double difference = 0;  // between rows, mean over pixels
    for (std::size_t p = 0; p < size; ++p) {
      Spread spread;
      for (std::size_t row = 0; row < rows; ++row) spread.add(image(row)[p]);
      difference += spread.deviation() / static_cast<double>(size);
    }
    if (most_contrast < kFlat) {
      flat.push_back(c);
    } else if (rows > 1 && difference < kSame) {
      same.push_back(c);
    }
  }
  if (!flat.empty()) {
    sentences.push_back("the images of " + classes_text(flat) + " are one flat colour");
  }
  if (!same.empty()) {
    sentences.push_back("the images of " + classes_text(same) +
                        " are all but the same whatever the latent");
  }
}

// Certain by three standard deviations, so that few fakes tell nothing.
void CollapseWatch::check_classifier(std::vector<std::string>& sentences) const {
  if (class_names_.size() < 2 || fakes_ == 0) return;
  const double chance = 1.0 / static_cast<double>(class_names_.size());
  const double n = static_cast<double>(fakes_);
  const double accuracy = correct_fakes_ / n;
  const double bound = std::min(1.5 * chance, chance + 0.1 * (1 - chance));
  if (!(accuracy + 3 * std::sqrt(chance * (1 - chance) / n) < bound)) return;
  sentences.push_back(fmt::format(
      "the classifier is right about {:.1f}% of the last {} generated images, which is no better "
      "than chance ({:.1f}%)",
      100 * accuracy, fakes_, 100 * chance));
}

std::string CollapseWatch::classes_text(const std::vector<std::size_t>& classes) const {
  constexpr std::size_t kNamed = 5;
  if (classes.size() == class_names_.size()) return "every class";
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, classes.size()); ++i) {
    text += (i == 0 ? "" : ", ") + class_names_[classes[i]];
  }
  if (classes.size() > kNamed) text += fmt::format(" and {} more", classes.size() - kNamed);
  return printable(text);
}

}  // namespace acgan
