#include "nn/pool2.h"

namespace acgan {

void Pool2::forward(Backend& backend, const ParameterStore&, const LayerForward& pass) const {
  backend.pool2(pass.x, scale_, pass.y);
}

void Pool2::backward(Backend& backend, const ParameterStore&, const LayerBackward& pass) const {
  if (!pass.dx) return;
  ACGAN_CHECK(pass.dx_accumulation == Accumulation::Overwrite);
  backend.unpool2(pass.cotangent_slice(pass.dy, pass.dx_begin, pass.cotangents()), scale_, pass.dx);
}

}  // namespace acgan
