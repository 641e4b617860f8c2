#include <cmath>
#include <vector>

#include "backend/host/host_backend.h"
#include "backend/host/host_values.h"

namespace acgan {
namespace {

// The per-channel factors that one batch norm reads, widened.
struct Channels {
  std::vector<double> gamma, beta, mean, inverse_deviation;

  Channels(const Tensor& gamma_view, const Tensor& beta_view, const Tensor& mean_view,
           const Tensor& variance_view)
      : gamma(host::widen(gamma_view)),
        beta(host::widen(beta_view)),
        mean(host::widen(mean_view)),
        inverse_deviation(host::widen(variance_view)) {
    for (double& value : inverse_deviation) value = 1.0 / std::sqrt(value + kBatchNormEpsilon);
  }

  double normalised(double x, std::size_t c) const { return (x - mean[c]) * inverse_deviation[c]; }
  double output(double x, std::size_t c) const { return gamma[c] * normalised(x, c) + beta[c]; }
  std::size_t count() const { return gamma.size(); }
};

void check_channels(const Tensor& vector, std::int64_t channels) {
  ACGAN_CHECK(vector.dtype == DType::F32 && vector.shape == Shape{channels});
}

void apply(const Tensor& x, const Channels& channels, Activation activation, const Tensor& y) {
  std::vector<double> values = host::widen(x);
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = host::activate(channels.output(values[k], k % channels.count()), activation);
  }
  host::store(y, values);
}

}  // namespace

void HostBackend::batch_norm_forward(const BatchNormForward& arguments) {
  const Tensor& x = arguments.x;
  ACGAN_CHECK(x.shape == arguments.y.shape && x.dtype == arguments.y.dtype);
  ACGAN_CHECK(x.shape.rank() >= 2 && x.count() > 0);
  const std::int64_t channels = x.shape.back();
  for (const Tensor& vector :
       {arguments.gamma, arguments.beta, arguments.mean, arguments.variance}) {
    check_channels(vector, channels);
  }
  const std::vector<double> values = host::widen(x);
  const auto count = static_cast<std::size_t>(channels);
  const double rows = static_cast<double>(values.size() / count);
  std::vector<double> mean(count, 0.0);
  std::vector<double> variance(count, 0.0);
  for (std::size_t k = 0; k < values.size(); ++k) mean[k % count] += values[k] / rows;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double deviation = values[k] - mean[k % count];
    variance[k % count] += deviation * deviation / rows;
  }
  host::store(arguments.mean, mean);
  host::store(arguments.variance, variance);
  const Channels factors(arguments.gamma, arguments.beta, arguments.mean, arguments.variance);
  apply(x, factors, arguments.activation, arguments.y);
}

// With dy' = dy * activation'(y), xhat the normalised x and sums over the M values of a channel:
// dbeta = sum dy', dgamma = sum dy' xhat,
// dx = gamma / sqrt(variance + eps) * (dy' - dbeta / M - xhat * dgamma / M).
void HostBackend::batch_norm_backward(const BatchNormBackward& arguments) {
  const Tensor& x = arguments.x;
  ACGAN_CHECK(x.shape == arguments.dy.shape && x.shape == arguments.dx.shape);
  ACGAN_CHECK(x.dtype == arguments.dy.dtype && x.dtype == arguments.dx.dtype);
  ACGAN_CHECK(x.shape.rank() >= 2 && x.count() > 0);
  ACGAN_CHECK(static_cast<bool>(arguments.dgamma) == static_cast<bool>(arguments.dbeta));
  const std::int64_t channels = x.shape.back();
  for (const Tensor& vector :
       {arguments.gamma, arguments.beta, arguments.mean, arguments.variance}) {
    check_channels(vector, channels);
  }
  const Channels factors(arguments.gamma, arguments.beta, arguments.mean, arguments.variance);
  const std::size_t count = factors.count();
  const std::vector<double> values = host::widen(x);
  std::vector<double> gradient = host::widen(arguments.dy);
  const double rows = static_cast<double>(values.size() / count);
  std::vector<double> dgamma(count, 0.0);
  std::vector<double> dbeta(count, 0.0);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t c = k % count;
    gradient[k] *= host::activation_slope(factors.output(values[k], c), arguments.activation);
    dgamma[c] += gradient[k] * factors.normalised(values[k], c);
    dbeta[c] += gradient[k];
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t c = k % count;
    const double projected = dbeta[c] + factors.normalised(values[k], c) * dgamma[c];
    gradient[k] =
        factors.gamma[c] * factors.inverse_deviation[c] * (gradient[k] - projected / rows);
  }
  host::store(arguments.dx, gradient);
  if (!arguments.dgamma) return;
  check_channels(arguments.dgamma, channels);
  check_channels(arguments.dbeta, channels);
  host::store(arguments.dgamma, dgamma, arguments.accumulation);
  host::store(arguments.dbeta, dbeta, arguments.accumulation);
}

void HostBackend::batch_norm_update_running(const Tensor& mean, const Tensor& variance,
                                            float momentum, int times, const OptimizerState* state,
                                            const Tensor& running_mean,
                                            const Tensor& running_variance) {
  ACGAN_CHECK(mean.shape.rank() == 1 && times >= 0);
  for (const Tensor& vector : {mean, variance, running_mean, running_variance}) {
    check_channels(vector, mean.shape[0]);
  }
  if (state != nullptr && state->nonfinite != 0) return;
  const auto update = [&](const Tensor& batch, const Tensor& running) {
    const std::vector<double> target = host::widen(batch);
    std::vector<double> values = host::widen(running);
    for (int pass = 0; pass < times; ++pass) {
      for (std::size_t c = 0; c < values.size(); ++c) {
        values[c] = (1.0 - double{momentum}) * values[c] + double{momentum} * target[c];
      }
    }
    host::store(running, values);
  };
  update(mean, running_mean);
  update(variance, running_variance);
}

void HostBackend::batch_norm_apply(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                   const Tensor& running_mean, const Tensor& running_variance,
                                   Activation activation, const Tensor& y) {
  ACGAN_CHECK(x.shape == y.shape && x.dtype == y.dtype && x.shape.rank() >= 2);
  for (const Tensor& vector : {gamma, beta, running_mean, running_variance}) {
    check_channels(vector, x.shape.back());
  }
  apply(x, Channels(gamma, beta, running_mean, running_variance), activation, y);
}

}  // namespace acgan
