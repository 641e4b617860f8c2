#pragma once

#include <string>

#include "train/train_state.h"

namespace acgan {

// The generator of a checkpoint in inference mode, as the content of an ONNX file (opset 13):
//   inputs   latent  float [N, latent_dim]
//            class   int64 [N], 0 .. classes - 1
//   output   image   float [N, channels, image_size, image_size] in [0,1]
// for any N; an image depends on its latent and class only. Metadata: "classes", a JSON list of
// names by number, and "step". `facts` are the checkpoint's. Throws Error{Output} where the model
// does not fit into such a file or the checkpoint has not what is needed.
std::string onnx_model(const Checkpoint& checkpoint, const ModelFacts& facts,
                       GeneratorWeights weights = GeneratorWeights::Average);

// Throws Error{Output} naming `source` where the generator's weights pass the 2 GiB of a protobuf
// message.
void check_fits_onnx(const AcganShape& shape, const std::string& source);

}  // namespace acgan
