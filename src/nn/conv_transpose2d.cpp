#include "nn/conv_transpose2d.h"

#include "nn/conv2d.h"

namespace acgan {

ConvTranspose2d::ConvTranspose2d(ParameterStore& store, const std::string& name, std::int64_t size,
                                 std::int64_t in, std::int64_t out, BiasTraining bias)
    : Layer(name),
      geometry_{.in_h = 2 * size,
                .in_w = 2 * size,
                .in_c = out,
                .out_h = size,
                .out_w = size,
                .out_c = in},
      bias_training_(bias),
      weight_(store.add(name + ".weight", {in, geometry_.kernel, geometry_.kernel, out},
                        Initializer::Normal, ParameterKind::Weight)),
      bias_(store.add(name + ".bias", {out}, Initializer::Zero, ParameterKind::Vector)) {}

double ConvTranspose2d::forward_flops() const { return Conv2d::conv_flops(geometry_); }

void ConvTranspose2d::forward(Backend& backend, const ParameterStore& parameters,
                              const LayerForward& pass) const {
  backend.conv2d_backward_data(geometry_, pass.x, parameters.working(weight_),
                               parameters.working(bias_), pass.y);
}

void ConvTranspose2d::backward(Backend& backend, const ParameterStore& parameters,
                               const LayerBackward& pass) const {
  for (const GradientTarget& target : pass.targets) {
    const Tensor dy_part = pass.cotangent_slice(pass.dy, target.begin, target.end);
    backend.conv2d_backward_weight(geometry_, dy_part,
                                   pass.group_slice(pass.x, target.begin, target.end),
                                   target.gradients->view(weight_), Accumulation::Overwrite);
    if (bias_training_ == BiasTraining::Trained) {
      backend.bias_backward(dy_part, target.gradients->view(bias_), Accumulation::Overwrite);
    }
  }
  if (pass.dx) {
    ACGAN_CHECK(pass.dx_accumulation == Accumulation::Overwrite);
    backend.conv2d_forward(geometry_,
                           pass.cotangent_slice(pass.dy, pass.dx_begin, pass.cotangents()),
                           parameters.working(weight_), Tensor{}, Activation::None, pass.dx);
  }
}

}  // namespace acgan
