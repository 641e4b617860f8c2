#include "nn/dense.h"

namespace acgan {

Dense::Dense(ParameterStore& store, const std::string& name, std::int64_t in, std::int64_t out,
             BiasTraining bias, DenseOutput output)
    : Layer(name),
      in_(in),
      out_(out),
      bias_training_(bias),
      output_(output),
      weight_(store.add(name + ".weight", {out, in}, Initializer::XavierUniform,
                        ParameterKind::Weight)),
      bias_(store.add(name + ".bias", {out}, Initializer::Zero, ParameterKind::Vector)) {}

void Dense::forward(Backend& backend, const ParameterStore& parameters,
                    const LayerForward& pass) const {
  backend.dense_forward(pass.x, parameters.working(weight_), parameters.working(bias_), pass.y);
}

void Dense::backward(Backend& backend, const ParameterStore& parameters,
                     const LayerBackward& pass) const {
  for (const GradientTarget& target : pass.targets) {
    const Tensor dy_part = pass.cotangent_slice(pass.dy, target.begin, target.end);
    backend.dense_backward_weight(pass.group_slice(pass.x, target.begin, target.end), dy_part,
                                  target.gradients->view(weight_), Accumulation::Overwrite);
    if (bias_training_ == BiasTraining::Trained) {
      backend.bias_backward(dy_part, target.gradients->view(bias_), Accumulation::Overwrite);
    }
  }
  if (pass.dx) {
    backend.dense_backward_data(pass.cotangent_slice(pass.dy, pass.dx_begin, pass.cotangents()),
                                parameters.working(weight_), pass.dx, pass.dx_accumulation);
  }
}

}  // namespace acgan
