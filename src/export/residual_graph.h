#pragma once

#include <string>

#include "export/onnx_graph.h"
#include "model/acgan.h"

namespace acgan {

// The names of a generator's inputs and output in its graph.
struct GeneratorNames {
  std::string latent, classes, image;
};

// Adds the nodes and weights of a residual generator (model/residual.h) in inference mode. Batch
// norms inside a block are taken into the convolution before them; those that read the sum of a
// block, which its shortcut needs as it is, become Mul and Add. Throws Error{Output} where an array
// is missing, has another shape, or gives a number that is not finite.
void write_residual_generator(OnnxGraph& graph, const GeneratorArrays& arrays,
                              const AcganShape& shape, const GeneratorNames& names);

}  // namespace acgan
