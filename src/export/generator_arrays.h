#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/shape.h"
#include "train/train_state.h"

namespace acgan {

// Values row by row, the last axis fastest.
struct FoldedArray {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

FoldedArray empty_array(std::vector<std::int64_t> shape);  // zeros

// The generator's arrays in a checkpoint, by the names that its layers give them.
class GeneratorArrays {
 public:
  GeneratorArrays(const Checkpoint& checkpoint, GeneratorWeights weights)
      : checkpoint_(checkpoint), weights_(weights) {}

  // Throws Error{Output} where it is missing or has another shape.
  std::vector<float> read(const std::string& name, const Shape& shape) const;
  const std::string& source() const { return checkpoint_.source(); }

 private:
  const Checkpoint& checkpoint_;
  GeneratorWeights weights_;
};

// y = scale x + shift for each feature.
struct Affine {
  std::vector<double> scale, shift;
};

// What a layer adds to its product.
Affine bias_of(const GeneratorArrays& arrays, const std::string& layer, std::int64_t features);
// A batch norm in inference mode: gamma (x - mean) / sqrt(variance + epsilon) + beta (Ioffe &
// Szegedy 2015, section 3.1).
Affine norm_of(const GeneratorArrays& arrays, const std::string& norm, std::int64_t features);
// The layer's bias, and the batch norm after it.
Affine bias_and_norm_of(const GeneratorArrays& arrays, const std::string& layer,
                        const std::string& norm, std::int64_t features);

// Throws Error{Output} naming `source` and the layer where a value is not finite.
void check_is_finite(const std::string& source, const std::string& layer, const FoldedArray& array);

}  // namespace acgan
