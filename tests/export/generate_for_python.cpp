// generate_for_python CHECKPOINT COUNT OUT: our own images of a checkpoint's generator, for
// check_onnx.py and check_pytorch.py, as a safetensors file with latent F32 [COUNT,Z],
// class I64 [COUNT] (0, 1, ... in turn) and image F32 [COUNT,H,W,C].

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "backend/open_backend.h"
#include "train/sampler.h"
#include "train/train_state.h"

namespace acgan {
namespace {

void generate(const std::string& path, std::int64_t count, const std::string& out) {
  const Checkpoint checkpoint = Checkpoint::load(path);
  const AcganShape shape = read_model_facts(checkpoint).shape;
  const OpenedBackend opened = open_backend({.device = "cpu", .threads = 1});
  Acgan model(*opened.backend, shape, DType::F32);
  load_generator(checkpoint, model);
  const std::vector<float> latents = sample_latents(3, count, shape.widths.latent_dim);
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> classes;
  for (std::int64_t i = 0; i < count; ++i) {
    classes.push_back(i % shape.classes);
    labels.push_back(static_cast<std::int32_t>(classes.back()));
  }
  const std::vector<float> images = Sampler(model, count).generate(latents, labels);

  Checkpoint result;
  using enum Checkpoint::Type;
  result.set("latent", F32, {count, shape.widths.latent_dim}, latents.data());
  result.set("class", I64, {count}, classes.data());
  result.set("image", F32, {count, shape.image_size, shape.image_size, shape.channels},
             images.data());
  result.save(out);
}

}  // namespace
}  // namespace acgan

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 3) {
    std::cerr << "usage: generate_for_python CHECKPOINT COUNT OUT\n";
    return 2;
  }
  try {
    acgan::generate(arguments[0], std::stoll(arguments[1]), arguments[2]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
