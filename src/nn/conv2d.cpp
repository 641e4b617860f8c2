#include "nn/conv2d.h"

namespace acgan {

Conv2d::Conv2d(ParameterStore& store, const std::string& name, std::int64_t size, std::int64_t in,
               std::int64_t out, BiasTraining bias, Activation activation)
    : Layer(name),
      geometry_{.in_h = size,
                .in_w = size,
                .in_c = in,
                .out_h = size / 2,
                .out_w = size / 2,
                .out_c = out},
      bias_training_(bias),
      activation_(activation),
      weight_(store.add(name + ".weight", {out, geometry_.kernel, geometry_.kernel, in},
                        Initializer::Normal, ParameterKind::Weight)),
      bias_(store.add(name + ".bias", {out}, Initializer::Zero, ParameterKind::Vector)) {
  ACGAN_CHECK(size % 2 == 0);
}

double Conv2d::conv_flops(const ConvGeometry& g) {
  return 2.0 * static_cast<double>(g.out_h * g.out_w * g.out_c) *
         static_cast<double>(g.kernel * g.kernel * g.in_c);
}

void Conv2d::forward(Backend& backend, const ParameterStore& parameters,
                     const LayerForward& pass) const {
  backend.conv2d_forward(geometry_, pass.x, parameters.working(weight_), parameters.working(bias_),
                         activation_, pass.y);
}

void Conv2d::backward(Backend& backend, const ParameterStore& parameters,
                      const LayerBackward& pass) const {
  if (activation_ != Activation::None) {
    for (std::int64_t j = 0; j < pass.cotangents(); ++j) {
      const Tensor part = pass.cotangent_slice(pass.dy, j, j + 1);
      backend.activation_backward(pass.group_slice(pass.y, j, j + 1), part, activation_, part);
    }
  }
  for (const GradientTarget& target : pass.targets) {
    const Tensor dy_part = pass.cotangent_slice(pass.dy, target.begin, target.end);
    backend.conv2d_backward_weight(geometry_, pass.group_slice(pass.x, target.begin, target.end),
                                   dy_part, target.gradients->view(weight_),
                                   Accumulation::Overwrite);
    if (bias_training_ == BiasTraining::Trained) {
      backend.bias_backward(dy_part, target.gradients->view(bias_), Accumulation::Overwrite);
    }
  }
  if (pass.dx) {
    ACGAN_CHECK(pass.dx_accumulation == Accumulation::Overwrite);
    backend.conv2d_backward_data(geometry_,
                                 pass.cotangent_slice(pass.dy, pass.dx_begin, pass.cotangents()),
                                 parameters.working(weight_), Tensor{}, pass.dx);
  }
}

}  // namespace acgan
