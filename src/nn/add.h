#pragma once

#include "nn/layer.h"

namespace acgan {

// The sum of two inputs: where the branches of a residual block meet.
class Add : public Layer {
 public:
  Add(const std::string& name, const Shape& shape) : Layer(name), shape_(shape) {}

  int inputs() const override { return 2; }
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
