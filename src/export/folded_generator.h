#pragma once

#include "export/generator_arrays.h"
#include "model/acgan.h"

namespace acgan {

// The study's generator in inference mode without batch norms: each is an affine map of its
// features there, and is taken into the weights before it. With base = image_size / 4 an image of z
// and class c is
//   h = relu(latent_weight z + class_rows[c])                   [dense_width]
//   h = relu(dense2_weight h + dense2_bias)                     [conv2_width, base, base]
//   h = relu(transposed convolution by deconv3)                 [conv1_width, 2 base, 2 base]
//   image = sigmoid(transposed convolution by deconv4)          [channels, image_size, image_size]
// Both convolutions have kernel 4, stride 2, padding 1.
struct FoldedGenerator {
  FoldedArray latent_weight;   // [dense_width, latent_dim]
  FoldedArray class_rows;      // [classes, dense_width]: what a class adds, and the bias
  FoldedArray dense2_weight;   // [conv2_width * base * base, dense_width]
  FoldedArray dense2_bias;     // [conv2_width * base * base]
  FoldedArray deconv3_weight;  // [conv2_width, conv1_width, 4, 4]
  FoldedArray deconv3_bias;    // [conv1_width]
  FoldedArray deconv4_weight;  // [conv1_width, channels, 4, 4]
  FoldedArray deconv4_bias;    // [channels]
};

// The generator of a checkpoint whose model has this shape; computed in double. Throws
// Error{Output} where an array is missing, has another shape, or gives a weight that is not finite.
FoldedGenerator fold_generator(const Checkpoint& checkpoint, const AcganShape& shape,
                               GeneratorWeights weights = GeneratorWeights::Average);

}  // namespace acgan
