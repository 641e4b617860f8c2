#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "backend/backend.h"

// What the backends have in common in Backend::spectral_normalize and spectral_norm_backward.
namespace acgan {

inline void check_spectral_weight(const SpectralWeight& weight) {
  for (const Tensor& each : {weight.master, weight.u, weight.v, weight.sigma}) {
    ACGAN_CHECK(each && each.dtype == DType::F32 && each.count() > 0);
  }
  ACGAN_CHECK(weight.u.count() == weight.master.rows());
  ACGAN_CHECK(weight.v.count() == weight.master.row_size() && weight.sigma.count() == 1);
}

inline void check_spectral_normalization(const SpectralNormalization& arguments) {
  check_spectral_weight(arguments.weight);
  ACGAN_CHECK(arguments.working.shape == arguments.weight.master.shape);
  ACGAN_CHECK(arguments.power_iterations >= 0);
  for (const OptimizerState* state : arguments.states) ACGAN_CHECK(state != nullptr);
}

inline void check_spectral_gradient(const SpectralWeight& weight, const Tensor& gradient) {
  check_spectral_weight(weight);
  ACGAN_CHECK(gradient.shape == weight.master.shape && gradient.dtype == DType::F32);
}

// Whether there are optimisers and none of them moved the weight; for states in the host's memory.
inline bool all_skip(std::span<const OptimizerState* const> states) {
  return !states.empty() && std::ranges::all_of(states, [](const OptimizerState* state) {
    return state->nonfinite != 0;
  });
}

// unit = values / |values|, or left alone where they are zeros. Returns |values|.
inline double write_unit_vector(const std::vector<double>& values, float* unit) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  const double length = std::sqrt(squares);
  if (length == 0.0) return length;
  for (std::size_t i = 0; i < values.size(); ++i) unit[i] = static_cast<float>(values[i] / length);
  return length;
}

// A NaN stays one.
inline float sigma_of(double length) {
  const auto sigma = static_cast<float>(length);
  return sigma < kSmallestSigma ? kSmallestSigma : sigma;
}

}  // namespace acgan
