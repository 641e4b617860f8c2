#pragma once

#include "nn/layer.h"

namespace acgan {

// y = activation(x), where no convolution or batch norm stands before it that would apply it.
class ActivationLayer : public Layer {
 public:
  ActivationLayer(const std::string& name, const Shape& shape, Activation activation)
      : Layer(name), shape_(shape), activation_(activation) {}

  Shape input_shape() const override { return shape_; }
  Shape output_shape() const override { return shape_; }
  bool works_in_place() const override { return true; }
  void forward(Backend& backend, const ParameterStore& parameters,
               const LayerForward& pass) const override;
  void backward(Backend& backend, const ParameterStore& parameters,
                const LayerBackward& pass) const override;

 private:
  Shape shape_;
  Activation activation_;
};

}  // namespace acgan
