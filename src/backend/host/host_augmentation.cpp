#include <algorithm>
#include <vector>

#include "backend/host/host_backend.h"
#include "backend/host/host_values.h"

namespace acgan {
namespace {

// The place of one image in a batch, widened.
struct Square {
  std::size_t begin;  // of the image's values
  int side;
  int channels;

  std::size_t at(int h, int w, int c) const {
    return begin + static_cast<std::size_t>((h * side + w) * channels + c);
  }
  std::size_t count() const { return static_cast<std::size_t>(side * side * channels); }
};

Square square_of(const Tensor& images, std::int64_t n) {
  return {static_cast<std::size_t>(n * images.row_size()), static_cast<int>(images.shape[1]),
          static_cast<int>(images.shape[3])};
}

void check_images(const AugmentationDraw& draw, const Tensor& from, const Tensor& to) {
  ACGAN_CHECK(draw.state != nullptr && from.shape.rank() == 4 && from.shape == to.shape);
  ACGAN_CHECK(from.shape[1] == from.shape[2] && from.data != to.data);
}

// a * x + b * mean over channels + c * mean of the image: DiffAugment's change of colours and,
// being symmetric, its transpose.
void mix_means(const ImageAugmentation& drawn, const Square& image, std::vector<double>& values) {
  const double own = double{drawn.contrast} * double{drawn.saturation};
  const double of_channels = double{drawn.contrast} * (1.0 - double{drawn.saturation});
  double mean = 0.0;
  for (std::size_t i = 0; i < image.count(); ++i) mean += values[image.begin + i];
  mean *= (1.0 - double{drawn.contrast}) / static_cast<double>(image.count());
  for (std::size_t pixel = 0; pixel < image.count();
       pixel += static_cast<std::size_t>(image.channels)) {
    double* const value = &values[image.begin + pixel];
    double channels = 0.0;
    for (int c = 0; c < image.channels; ++c) channels += value[c];
    channels *= of_channels / image.channels;
    for (int c = 0; c < image.channels; ++c) value[c] = own * value[c] + channels + mean;
  }
}

}  // namespace

void HostBackend::flip_images(const RandomState* state, const Tensor& images) {
  ACGAN_CHECK(state != nullptr && images.shape.rank() == 4);
  const std::int64_t rows = images.shape[1], width = images.shape[2], channels = images.shape[3];
  visit_dtype(images.dtype, [&]<typename T>(T) {
    for (std::int64_t n = 0; n < images.rows(); ++n) {
      const auto words = philox_block(state->seed, RandomStream::Flip, state->step,
                                      static_cast<std::uint32_t>(n / 4));
      if (words[static_cast<std::size_t>(n % 4)] % 2 == 0) continue;
      for (std::int64_t h = 0; h < rows; ++h) {
        T* const row = images.as<T>() + (n * rows + h) * width * channels;
        for (std::int64_t w = 0; w < width / 2; ++w) {
          std::swap_ranges(row + w * channels, row + (w + 1) * channels,
                           row + (width - 1 - w) * channels);
        }
      }
    }
  });
}

void HostBackend::augment(const AugmentationDraw& draw, const Tensor& x, const Tensor& y) {
  check_images(draw, x, y);
  std::vector<double> colored = host::widen(x);
  std::vector<double> result(colored.size());
  for (std::int64_t n = 0; n < x.rows(); ++n) {
    const Square image = square_of(x, n);
    const ImageAugmentation drawn =
        draw_augmentation(*draw.state, draw.kinds, draw.first_image + n, image.side);
    mix_means(drawn, image, colored);
    for (int h = 0; h < image.side; ++h) {
      for (int w = 0; w < image.side; ++w) {
        if (!drawn.shows(h, w)) continue;
        for (int c = 0; c < image.channels; ++c) {
          result[image.at(h, w, c)] =
              colored[image.at(h - drawn.down, w - drawn.right, c)] + double{drawn.brightness};
        }
      }
    }
  }
  host::store(y, result);
}

void HostBackend::augment_backward(const AugmentationDraw& draw, const Tensor& dy,
                                   const Tensor& dx) {
  check_images(draw, dy, dx);
  const std::vector<double> slope = host::widen(dy);
  std::vector<double> result(slope.size());
  for (std::int64_t n = 0; n < dy.rows(); ++n) {
    const Square image = square_of(dy, n);
    const ImageAugmentation drawn =
        draw_augmentation(*draw.state, draw.kinds, draw.first_image + n, image.side);
    for (int h = 0; h < image.side; ++h) {
      for (int w = 0; w < image.side; ++w) {
        if (!drawn.shows(h, w)) continue;
        for (int c = 0; c < image.channels; ++c) {
          result[image.at(h - drawn.down, w - drawn.right, c)] = slope[image.at(h, w, c)];
        }
      }
    }
    mix_means(drawn, image, result);
  }
  host::store(dx, result);
}

}  // namespace acgan
