#include "nn/upsample2.h"

namespace acgan {

void Upsample2::forward(Backend& backend, const ParameterStore&, const LayerForward& pass) const {
  backend.unpool2(pass.x, 1.0f, pass.y);
}

void Upsample2::backward(Backend& backend, const ParameterStore&, const LayerBackward& pass) const {
  if (!pass.dx) return;
  ACGAN_CHECK(pass.dx_accumulation == Accumulation::Overwrite);
  backend.pool2(pass.cotangent_slice(pass.dy, pass.dx_begin, pass.cotangents()), 1.0f, pass.dx);
}

}  // namespace acgan
