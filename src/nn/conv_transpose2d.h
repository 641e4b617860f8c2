#pragma once

#include "nn/layer.h"

namespace acgan {

// Transposed convolution 4x4, stride 2, padding 1, [H,W,C] -> [2H,2W,K], weight [C,4,4,K]: the
// backward-data operation of the convolution that leads from its output to its input.
class ConvTranspose2d : public Layer {
 public:
  ConvTranspose2d(ParameterStore& store, const std::string& name, std::int64_t size,
                  std::int64_t in, std::int64_t out, BiasTraining bias);

  Shape input_shape() const override { return {geometry_.out_h, geometry_.out_w, geometry_.out_c}; }
  Shape output_shape() const override { return {geometry_.in_h, geometry_.in_w, geometry_.in_c}; }
  double forward_flops() const override;
  const ConvGeometry* convolution() const override { return &geometry_; }
  void forward(Backend& backend, const ParameterStore& parameters,
               const LayerForward& pass) const override;
  void backward(Backend& backend, const ParameterStore& parameters,
                const LayerBackward& pass) const override;

 private:
  ConvGeometry geometry_;  // of the convolution that this one transposes
  BiasTraining bias_training_;
  int weight_, bias_;
};

}  // namespace acgan
