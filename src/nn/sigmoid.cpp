#include "nn/sigmoid.h"

namespace acgan {

void Sigmoid::forward(Backend& backend, const ParameterStore&, const LayerForward& pass) const {
  backend.sigmoid_forward(pass.x, pass.y);
}

void Sigmoid::backward(Backend& backend, const ParameterStore&, const LayerBackward& pass) const {
  if (!pass.dx) return;
  for (std::int64_t j = pass.dx_begin; j < pass.cotangents(); ++j) {
    const Tensor dy = pass.cotangent_slice(pass.dy, j, j + 1);
    const Tensor y = pass.group_slice(pass.y, j, j + 1);
    backend.sigmoid_backward(y, dy, pass.dx.slice((j - pass.dx_begin) * dy.rows(), dy.rows()));
  }
}

}  // namespace acgan
