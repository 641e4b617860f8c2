#pragma once

#include "nn/layer.h"

namespace acgan {

// y = 1 / (1 + exp(-x)), the generator's last step: images in (0,1).
class Sigmoid : public Layer {
 public:
  Sigmoid(const std::string& name, const Shape& shape) : Layer(name), shape_(shape) {}

  Shape input_shape() const override { return shape_; }
  Shape output_shape() const override { return shape_; }
  bool works_in_place() const override { return true; }
  void forward(Backend& backend, const ParameterStore& parameters,
               const LayerForward& pass) const override;
  void backward(Backend& backend, const ParameterStore& parameters,
                const LayerBackward& pass) const override;

 private:
  Shape shape_;
};

}  // namespace acgan
