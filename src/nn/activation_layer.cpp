#include "nn/activation_layer.h"

namespace acgan {

void ActivationLayer::forward(Backend& backend, const ParameterStore&,
                              const LayerForward& pass) const {
  backend.activation_forward(pass.x, activation_, pass.y);
}

void ActivationLayer::backward(Backend& backend, const ParameterStore&,
                               const LayerBackward& pass) const {
  if (!pass.dx) return;
  ACGAN_CHECK(pass.dx_accumulation == Accumulation::Overwrite);
  for (std::int64_t j = pass.dx_begin; j < pass.cotangents(); ++j) {
    const Tensor dy = pass.cotangent_slice(pass.dy, j, j + 1);
    backend.activation_backward(pass.group_slice(pass.y, j, j + 1), dy, activation_,
                                pass.dx.slice((j - pass.dx_begin) * dy.rows(), dy.rows()));
  }
}

}  // namespace acgan
