#include "train/sampler.h"

#include <algorithm>

namespace acgan {

Sampler::Sampler(const AcganShape& shape, const Network& generator, std::int64_t chunk)
    : shape_(shape),
      generator_(generator),
      chunk_(chunk),
      z_(generator.parameters().backend(), {chunk, shape.widths.latent_dim}, DType::F32),
      labels_(generator.parameters().backend(), {chunk}, DType::I32),
      input_(generator.parameters().backend(), {chunk, shape.widths.latent_dim + shape.classes},
             generator.compute()),
      images_(generator.parameters().backend(),
              {chunk, shape.image_size, shape.image_size, shape.channels}, DType::F32),
      pass_(generator, chunk, 1) {}

void Sampler::infer(std::size_t n, float* images) {
  Backend& backend = generator_.parameters().backend();
  generator_.infer(input_.view(), pass_);
  backend.cast(pass_.output().reshaped(images_.view().shape), images_.view());
  const auto pixels = static_cast<std::size_t>(images_.view().row_size());
  std::vector<float> chunk(static_cast<std::size_t>(chunk_) * pixels);
  backend.download(chunk.data(), images_.view());
  std::copy_n(chunk.begin(), n * pixels, images);
}

std::vector<float> Sampler::generate(std::span<const float> z,
                                     std::span<const std::int32_t> labels) {
  Backend& backend = generator_.parameters().backend();
  const auto latent = static_cast<std::size_t>(shape_.widths.latent_dim);
  const auto pixels = static_cast<std::size_t>(images_.view().row_size());
  const auto chunk = static_cast<std::size_t>(chunk_);
  ACGAN_CHECK(z.size() == labels.size() * latent);
  std::vector<float> result(labels.size() * pixels);
  std::vector<float> chunk_z(chunk * latent);
  std::vector<std::int32_t> chunk_labels(chunk);
  for (std::size_t begin = 0; begin < labels.size(); begin += chunk) {
    const std::size_t n = std::min(chunk, labels.size() - begin);
    std::copy_n(&z[begin * latent], n * latent, chunk_z.begin());
    std::copy_n(&labels[begin], n, chunk_labels.begin());
    backend.upload(z_.view(), chunk_z.data());
    backend.upload(labels_.view(), chunk_labels.data());
    backend.concat_one_hot(z_.view(), labels_.view(), input_.view());
    infer(n, &result[begin * pixels]);
  }
  return result;
}

std::vector<float> Sampler::generate_blends(std::span<const float> z,
                                            std::span<const float> class_weights) {
  Backend& backend = generator_.parameters().backend();
  const auto latent = static_cast<std::size_t>(shape_.widths.latent_dim);
  const auto classes = static_cast<std::size_t>(shape_.classes);
  const auto pixels = static_cast<std::size_t>(images_.view().row_size());
  const auto chunk = static_cast<std::size_t>(chunk_);
  const std::size_t count = z.size() / latent, width = latent + classes;
  ACGAN_CHECK(z.size() == count * latent && class_weights.size() == count * classes);
  OwnedTensor wide_input(backend, input_.view().shape, DType::F32);
  std::vector<float> result(count * pixels), inputs(chunk * width);
  for (std::size_t begin = 0; begin < count; begin += chunk) {
    const std::size_t n = std::min(chunk, count - begin);
    for (std::size_t i = 0; i < n; ++i) {
      std::copy_n(&z[(begin + i) * latent], latent, &inputs[i * width]);
      std::copy_n(&class_weights[(begin + i) * classes], classes, &inputs[i * width + latent]);
    }
    backend.upload(wide_input.view(), inputs.data());
    backend.cast(wide_input.view(), input_.view());
    infer(n, &result[begin * pixels]);
  }
  return result;
}

std::vector<std::uint8_t> Sampler::generate_grid(std::span<const float> z_by_row,
                                                 std::span<const std::int32_t> classes) {
  const auto latent = static_cast<std::size_t>(shape_.widths.latent_dim);
  std::vector<float> z;
  std::vector<std::int32_t> labels;
  for (std::size_t row = 0; row < z_by_row.size() / latent; ++row) {
    const auto z_row = z_by_row.subspan(row * latent, latent);
    for (const std::int32_t label : classes) {
      z.insert(z.end(), z_row.begin(), z_row.end());
      labels.push_back(label);
    }
  }
  return pixels_of(generate(z, labels));
}

std::vector<float> sample_latents(std::uint64_t seed, std::int64_t rows, std::int64_t latent_dim) {
  PhiloxSequence random(seed, RandomStream::SampleLatents, 0);
  std::vector<float> z(static_cast<std::size_t>(rows * latent_dim));
  for (float& value : z) value = uniform_symmetric(random.next());
  return z;
}

std::vector<std::uint8_t> pixels_of(std::span<const float> images) {
  std::vector<std::uint8_t> pixels(images.size());
  std::transform(images.begin(), images.end(), pixels.begin(), to_pixel);
  return pixels;
}

}  // namespace acgan
