#include "nn/conv2d.h"

namespace acgan {

Conv2d::Conv2d(ParameterStore& store, const std::string& name, const ConvGeometry& geometry,
               const Conv2dOptions& options)
    : Layer(name),
      geometry_(geometry),
      options_(options),
      weight_(store.add(name + ".weight",
                        {geometry.out_c, geometry.kernel, geometry.kernel, geometry.in_c},
                        options.weight, ParameterKind::Weight)),
      bias_(store.add(name + ".bias", {geometry.out_c}, Initializer::Zero, ParameterKind::Vector)) {
}

double Conv2d::conv_flops(const ConvGeometry& g) {
  return 2.0 * static_cast<double>(g.out_h * g.out_w * g.out_c) *
         static_cast<double>(g.kernel * g.kernel * g.in_c);
}

void Conv2d::forward(Backend& backend, const ParameterStore& parameters,
                     const LayerForward& pass) const {
  backend.conv2d_forward(geometry_, pass.x, parameters.working(weight_), parameters.working(bias_),
                         options_.activation, pass.y);
}

void Conv2d::backward(Backend& backend, const ParameterStore& parameters,
                      const LayerBackward& pass) const {
  if (options_.activation != Activation::None) {
    for (std::int64_t j = 0; j < pass.cotangents(); ++j) {
      const Tensor part = pass.cotangent_slice(pass.dy, j, j + 1);
      backend.activation_backward(pass.group_slice(pass.y, j, j + 1), part, options_.activation,
                                  part);
    }
  }
  for (const GradientTarget& target : pass.targets) {
    const Tensor dy_part = pass.cotangent_slice(pass.dy, target.begin, target.end);
    backend.conv2d_backward_weight(geometry_, pass.group_slice(pass.x, target.begin, target.end),
                                   dy_part, target.gradients->view(weight_),
                                   Accumulation::Overwrite);
    if (options_.bias == BiasTraining::Trained) {
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
