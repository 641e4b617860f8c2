#pragma once

#include "model/acgan.h"

namespace acgan {

// The residual networks of Miyato et al. 2018 ("Spectral Normalization for GANs", appendix B, table
// 4), after Gulrajani et al. 2017, for images of any side S that is a multiple of 8. Weights start
// as there: Xavier uniform, times sqrt(2) in the convolutions of 3x3 inside blocks. The generator's
// class goes in beside z rather than through its batch norms, and images are in (0,1).

// [z, one_hot(y)] -> [S/8,S/8,G] -> three blocks that double the side -> image; G is
// generator_width.
void build_residual_generator(Network& network, const AcganShape& shape);

// image -> two blocks that halve the side -> two that keep it -> sum over the [S/4,S/4] pixels of
// ReLU: features [discriminator_width]. No batch norm.
void build_residual_trunk(Network& network, const AcganShape& shape);

}  // namespace acgan
