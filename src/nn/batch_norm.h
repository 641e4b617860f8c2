#pragma once

#include "nn/layer.h"

namespace acgan {

// Batch norm over all axes but the last, with its activation.
class BatchNorm : public Layer {
 public:
  BatchNorm(ParameterStore& store, const std::string& name, const Shape& shape,
            Activation activation);

  Shape input_shape() const override { return shape_; }
  Shape output_shape() const override { return shape_; }
  std::vector<Shape> saved_shapes() const override { return {{features()}, {features()}}; }
  bool works_in_place() const override { return true; }
  void forward(Backend& backend, const ParameterStore& parameters,
               const LayerForward& pass) const override;
  void infer(Backend& backend, const ParameterStore& parameters,
             const LayerForward& pass) const override;
  void backward(Backend& backend, const ParameterStore& parameters,
                const LayerBackward& pass) const override;
  void update_running(Backend& backend, const ParameterStore& parameters,
                      std::span<const Tensor> saved, int times,
                      const OptimizerState* state) const override;

 private:
  std::int64_t features() const { return shape_.back(); }

  Shape shape_;
  Activation activation_;
  int gamma_, beta_, running_mean_, running_variance_;
};

}  // namespace acgan
