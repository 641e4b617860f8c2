#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/acgan.h"
#include "run/sample_grid.h"

namespace acgan {

// Images computed at a time while a run samples.
inline constexpr std::int64_t kSampleChunk = 50;

// The generator in inference mode: an image depends on its latent, its class and the weights only.
class Sampler {
 public:
  // Holds memory for `chunk` images at a time.
  Sampler(const AcganShape& shape, const Network& generator, std::int64_t chunk);
  Sampler(const Acgan& model, std::int64_t chunk) : Sampler(model.shape, model.generator, chunk) {}

  // z [n, latent_dim], labels [n] -> images [n,H,W,C] in [0,1].
  std::vector<float> generate(std::span<const float> z, std::span<const std::int32_t> labels);
  // The same for images between classes: class_weights [n, classes] instead of labels.
  std::vector<float> generate_blends(std::span<const float> z,
                                     std::span<const float> class_weights);

  // rows * classes.size() images as pixels, row by row; every column of a row has the same z.
  std::vector<std::uint8_t> generate_grid(std::span<const float> z_by_row,
                                          std::span<const std::int32_t> classes);

 private:
  // Images of the `n` inputs in input_, to `images`.
  void infer(std::size_t n, float* images);

  AcganShape shape_;
  const Network& generator_;
  std::int64_t chunk_;
  OwnedTensor z_, labels_, input_, images_;
  Activations pass_;
};

// `rows` latents [rows, latent_dim] that depend on the seed only.
std::vector<float> sample_latents(std::uint64_t seed, std::int64_t rows, std::int64_t latent_dim);

// Images in [0,1] as pixels, each value by to_pixel.
std::vector<std::uint8_t> pixels_of(std::span<const float> images);

}  // namespace acgan
