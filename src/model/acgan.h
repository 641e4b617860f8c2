#pragma once

#include <cstdint>

#include "config/config.h"
#include "nn/network.h"

namespace acgan {

// What the networks are built from; decides the shape of every parameter.
struct AcganShape {
  std::int64_t image_size = 28, channels = 1, classes = 10;
  ModelConfig widths;

  std::int64_t features() const;  // what the trunk makes of an image
};

// Adds the generator's layers to an empty network.
void build_generator(Network& network, const AcganShape& shape);

// The networks of an AC-GAN (Odena, Olah & Shlens 2017). The source head and the classifier share
// the discriminator's trunk. What generator and trunk consist of, `widths.preset` says: the study's
// convolutions (Radford et al. 2016) or residual blocks (model/residual.h).
//   generator      [z, one_hot(y)] -> image [S,S,C] in (0,1)
//   trunk          image -> features [features()]
//   source_head    features -> logit of "real" [1], F32
//   classifier     features -> class logits [K], F32
// Spectral normalisation is that of trunk and source head, which make up the discriminator.
struct Acgan {
  Acgan(Backend& backend, const AcganShape& shape, DType compute);

  AcganShape shape;
  Network generator{"generator"};
  Network trunk{"discriminator"};
  Network source_head{"discriminator"};
  Network classifier{"classifier"};

  // Every network, in the order in which checkpoints and logs list them.
  std::array<Network*, 4> networks() { return {&generator, &trunk, &source_head, &classifier}; }
  std::array<const Network*, 4> networks() const {
    return {&generator, &trunk, &source_head, &classifier};
  }
  void initialize(std::uint64_t seed);
};

}  // namespace acgan
