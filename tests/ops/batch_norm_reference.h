#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/backend.h"
#include "support/test_values.h"

namespace acgan::test {

inline double activate(double value, Activation activation) {
  if (value > 0.0 || activation == Activation::None) return value;
  return activation == Activation::Relu ? 0.0 : value * double{kLeakySlope};
}

inline double slope(double value, Activation activation) {
  if (value > 0.0 || activation == Activation::None) return 1.0;
  return activation == Activation::Relu ? 0.0 : double{kLeakySlope};
}

// One batch norm in float64, a channel at a time; rows = elements of a channel.
struct BatchNormReference {
  std::size_t rows, channels;
  std::vector<double> mean, variance, deviation, normalised, pre_activation;

  BatchNormReference(const std::vector<double>& x, const std::vector<double>& gamma,
                     const std::vector<double>& beta)
      : rows(x.size() / gamma.size()),
        channels(gamma.size()),
        mean(channels),
        variance(channels),
        deviation(channels),
        normalised(x.size()),
        pre_activation(x.size()) {
    const auto count = static_cast<double>(rows);
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t m = 0; m < rows; ++m) mean[c] += x[m * channels + c];
      mean[c] /= count;
      for (std::size_t m = 0; m < rows; ++m) {
        variance[c] += std::pow(x[m * channels + c] - mean[c], 2);
      }
      variance[c] /= count;
      deviation[c] = std::sqrt(variance[c] + 1e-5);
      for (std::size_t m = 0; m < rows; ++m) {
        const std::size_t k = m * channels + c;
        normalised[k] = (x[k] - mean[c]) / deviation[c];
        pre_activation[k] = gamma[c] * normalised[k] + beta[c];
      }
    }
  }

  Reference output(const std::vector<double>& gamma, const std::vector<double>& beta,
                   Activation activation) const {
    Reference y{{}, {}, 16};
    for (std::size_t k = 0; k < pre_activation.size(); ++k) {
      const std::size_t c = k % channels;
      // Besides the terms of the formula: x - mean cancels, with an error of the mean's size.
      y.value.push_back(activate(pre_activation[k], activation));
      y.magnitude.push_back(std::abs(gamma[c]) *
                                (std::abs(normalised[k]) + std::abs(mean[c]) / deviation[c] + 1) +
                            std::abs(beta[c]));
    }
    return y;
  }
};

struct BatchNormGradients {
  Reference dx, dgamma, dbeta;
};

// From the chain rule through mean and variance, written out term by term.
inline BatchNormGradients batch_norm_backward(const BatchNormReference& forward,
                                              const std::vector<double>& x,
                                              const std::vector<double>& dy,
                                              const std::vector<double>& gamma,
                                              Activation activation) {
  const std::size_t channels = forward.channels;
  const auto count = static_cast<double>(forward.rows);
  const std::vector<double> zeros(channels);
  BatchNormGradients result{{std::vector<double>(x.size()), std::vector<double>(x.size()), 64},
                            {zeros, zeros, static_cast<std::int64_t>(forward.rows)},
                            {zeros, zeros, static_cast<std::int64_t>(forward.rows)}};
  for (std::size_t c = 0; c < channels; ++c) {
    const double deviation = forward.deviation[c];
    double d_variance = 0.0;
    double d_mean = 0.0;
    double scale = 0.0;  // of the terms of dx
    for (std::size_t k = c; k < x.size(); k += channels) {
      const double through = dy[k] * slope(forward.pre_activation[k], activation);
      const double d_normalised = through * gamma[c];
      result.dbeta.value[c] += through;
      result.dgamma.value[c] += through * forward.normalised[k];
      result.dbeta.magnitude[c] += std::abs(through);
      // An error of the mean shifts every normalised value.
      result.dgamma.magnitude[c] += std::abs(through) * (std::abs(forward.normalised[k]) + 1 +
                                                         std::abs(forward.mean[c]) / deviation);
      d_variance += d_normalised * (x[k] - forward.mean[c]) * -0.5 / std::pow(deviation, 3);
      d_mean -= d_normalised / deviation;
      scale = std::max(scale, std::abs(d_normalised) / deviation);
    }
    for (std::size_t k = c; k < x.size(); k += channels) {
      const double through = dy[k] * slope(forward.pre_activation[k], activation);
      result.dx.value[k] = through * gamma[c] / deviation +
                           d_variance * 2.0 * (x[k] - forward.mean[c]) / count + d_mean / count;
      result.dx.magnitude[k] = scale * (2 + std::abs(forward.normalised[k])) *
                               (1 + std::abs(forward.mean[c]) / deviation);
    }
  }
  return result;
}

}  // namespace acgan::test
