#pragma once

#include "nn/layer.h"

namespace acgan {

// Every pixel four times, [H,W,C] -> [2H,2W,C].
class Upsample2 : public Layer {
 public:
  Upsample2(const std::string& name, const Shape& input) : Layer(name), input_(input) {}

  Shape input_shape() const override { return input_; }
  Shape output_shape() const override { return {2 * input_[0], 2 * input_[1], input_[2]}; }
  void forward(Backend& backend, const ParameterStore& parameters,
               const LayerForward& pass) const override;
  void backward(Backend& backend, const ParameterStore& parameters,
                const LayerBackward& pass) const override;

 private:
  Shape input_;
};

}  // namespace acgan
