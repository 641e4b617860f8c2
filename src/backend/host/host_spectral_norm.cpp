#include "backend/host/host_backend.h"
#include "backend/host/host_values.h"
#include "backend/spectral_norm.h"

namespace acgan {
namespace {

void iterate(const SpectralWeight& weight) {
  const std::int64_t rows = weight.master.rows(), columns = weight.master.row_size();
  const float* w = weight.master.as<float>();
  float *u = weight.u.as<float>(), *v = weight.v.as<float>();
  std::vector<double> wt_u(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      wt_u[static_cast<std::size_t>(j)] += double{w[i * columns + j]} * double{u[i]};
    }
  }
  write_unit_vector(wt_u, v);
  std::vector<double> w_v(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      w_v[static_cast<std::size_t>(i)] += double{w[i * columns + j]} * double{v[j]};
    }
  }
  *weight.sigma.as<float>() = sigma_of(write_unit_vector(w_v, u));
}

}  // namespace

void HostBackend::spectral_normalize(const SpectralNormalization& arguments) {
  check_spectral_normalization(arguments);
  if (all_skip(arguments.states)) return;
  for (int i = 0; i < arguments.power_iterations; ++i) iterate(arguments.weight);
  const double sigma = double{*arguments.weight.sigma.as<float>()};
  std::vector<double> values = host::widen(arguments.weight.master);
  for (double& value : values) value /= sigma;
  host::store(arguments.working, values);
}

void HostBackend::spectral_norm_backward(const SpectralWeight& weight, const Tensor& gradient) {
  check_spectral_gradient(weight, gradient);
  const std::int64_t columns = weight.master.row_size();
  const float *w = weight.master.as<float>(), *u = weight.u.as<float>(), *v = weight.v.as<float>();
  const double sigma = double{*weight.sigma.as<float>()};
  float* g = gradient.as<float>();
  double product = 0.0;  // <G, W / sigma>
  for (std::int64_t i = 0; i < gradient.count(); ++i) product += double{g[i]} * double{w[i]};
  product /= sigma;
  for (std::int64_t i = 0; i < gradient.count(); ++i) {
    const double along = product * double{u[i / columns]} * double{v[i % columns]};
    g[i] = static_cast<float>((double{g[i]} - along) / sigma);
  }
}

}  // namespace acgan
