#pragma once

#include "nn/layer.h"

namespace acgan {

// Convolution 4x4, stride 2, padding 1 with its activation, [H,W,C] -> [H/2,W/2,K], weight
// [K,4,4,C].
class Conv2d : public Layer {
 public:
  Conv2d(ParameterStore& store, const std::string& name, std::int64_t size, std::int64_t in,
         std::int64_t out, BiasTraining bias, Activation activation);

  Shape input_shape() const override { return {geometry_.in_h, geometry_.in_w, geometry_.in_c}; }
  Shape output_shape() const override {
    return {geometry_.out_h, geometry_.out_w, geometry_.out_c};
  }
  double forward_flops() const override { return conv_flops(geometry_); }
  const ConvGeometry* convolution() const override { return &geometry_; }
  void forward(Backend& backend, const ParameterStore& parameters,
               const LayerForward& pass) const override;
  void backward(Backend& backend, const ParameterStore& parameters,
                const LayerBackward& pass) const override;

  // Multiply-adds count two.
  static double conv_flops(const ConvGeometry& geometry);

 private:
  ConvGeometry geometry_;
  BiasTraining bias_training_;
  Activation activation_;
  int weight_, bias_;
};

}  // namespace acgan
