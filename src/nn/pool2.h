#pragma once

#include "nn/layer.h"

namespace acgan {

// Sums over windows of 2x2 times `scale`, [H,W,C] -> [ceil(H/2),ceil(W/2),C]; beyond an odd edge
// the image counts as zero. 1/4: average pooling of even sizes; 1, as often as it takes: the sum
// over all pixels, of any size.
class Pool2 : public Layer {
 public:
  Pool2(const std::string& name, const Shape& input, float scale)
      : Layer(name), input_(input), scale_(scale) {}

  Shape input_shape() const override { return input_; }
  Shape output_shape() const override {
    return {(input_[0] + 1) / 2, (input_[1] + 1) / 2, input_[2]};
  }
  void forward(Backend& backend, const ParameterStore& parameters,
               const LayerForward& pass) const override;
  void backward(Backend& backend, const ParameterStore& parameters,
                const LayerBackward& pass) const override;

 private:
  Shape input_;
  float scale_;
};

}  // namespace acgan
