#include "nn/add.h"

namespace acgan {

void Add::forward(Backend& backend, const ParameterStore&, const LayerForward& pass) const {
  backend.add(pass.x, pass.x_second, pass.y);
}

void Add::backward(Backend& backend, const ParameterStore&, const LayerBackward& pass) const {
  ACGAN_CHECK(pass.dx_accumulation == Accumulation::Overwrite);
  for (const Tensor& dx : {pass.dx, pass.dx_second}) {
    if (!dx || dx.data == pass.dy.data) continue;
    backend.copy(pass.dy.slice(pass.dy.rows() - dx.rows(), dx.rows()), dx);
  }
}

}  // namespace acgan
