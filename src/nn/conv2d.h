#pragma once

#include "nn/layer.h"

namespace acgan {

// [size,size,in] -> [size/2,size/2,out] with windows of 4x4; `size` is even.
inline ConvGeometry halving_convolution(std::int64_t size, std::int64_t in, std::int64_t out) {
  ACGAN_CHECK(size % 2 == 0);
  return {
      .in_h = size, .in_w = size, .in_c = in, .out_h = size / 2, .out_w = size / 2, .out_c = out};
}

// [size,size,in] -> [size,size,out] with windows of kernel x kernel, an odd number.
inline ConvGeometry same_convolution(std::int64_t size, std::int64_t kernel, std::int64_t in,
                                     std::int64_t out) {
  ACGAN_CHECK(kernel % 2 == 1);
  return {.in_h = size,
          .in_w = size,
          .in_c = in,
          .out_h = size,
          .out_w = size,
          .out_c = out,
          .kernel = kernel,
          .stride = 1,
          .pad = kernel / 2};
}

struct Conv2dOptions {
  BiasTraining bias = BiasTraining::Trained;
  Activation activation = Activation::None;
  Initializer weight = Initializer::Normal;
};

// Convolution with its activation, [in_h,in_w,in_c] -> [out_h,out_w,out_c], weight
// [out_c,kernel,kernel,in_c].
class Conv2d : public Layer {
 public:
  Conv2d(ParameterStore& store, const std::string& name, const ConvGeometry& geometry,
         const Conv2dOptions& options = {});

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
  Conv2dOptions options_;
  int weight_, bias_;
};

}  // namespace acgan
