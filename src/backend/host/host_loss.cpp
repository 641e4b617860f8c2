#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "backend/host/host_backend.h"
#include "backend/host/host_values.h"

namespace acgan {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Writes the mean loss, and the gradient times the loss scale, both already divided by the batch.
void write_result(const LossResult& result, double mean_loss, std::vector<double> gradient) {
  ACGAN_CHECK(result.loss != nullptr);
  const double before = result.accumulation == Accumulation::Add ? double{*result.loss} : 0.0;
  *result.loss = static_cast<float>(before + mean_loss);
  if (!result.gradient) return;
  const double scale = result.scaler != nullptr ? double{result.scaler->loss_scale} : 1.0;
  for (double& value : gradient) value *= scale;
  host::store(result.gradient, gradient);
}

// log(1 + exp(l)) - target * l, in a form whose exponential cannot overflow.
double binary_loss(double logit, double target) {
  return std::max(logit, 0.0) - target * logit + std::log1p(std::exp(-std::abs(logit)));
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

struct RowLoss {
  double loss;
  bool correct;
};

// One row of softmax cross entropy; `gradient` receives softmax - one_hot. A logit that is not
// finite makes loss and gradient NaN, so that the fault is seen and the update skipped.
RowLoss softmax_row(std::span<const float> logits, std::size_t label, std::span<double> gradient) {
  ACGAN_CHECK(label < logits.size());
  if (!std::all_of(logits.begin(), logits.end(), [](float l) { return std::isfinite(l); })) {
    std::fill(gradient.begin(), gradient.end(), kNan);
    return {kNan, false};
  }
  const auto largest = std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (std::size_t k = 0; k < logits.size(); ++k) {
    gradient[k] = std::exp(double{logits[k]} - double{*largest});
    sum += gradient[k];
  }
  for (double& value : gradient) value /= sum;
  gradient[label] -= 1.0;
  const double loss = std::log(sum) - (double{logits[label]} - double{*largest});
  return {loss, largest - logits.begin() == static_cast<std::ptrdiff_t>(label)};
}

}  // namespace

void HostBackend::bce_with_logits(const Tensor& logits, float target, const LossResult& result) {
  ACGAN_CHECK(logits.dtype == DType::F32 && logits.count() > 0);
  ACGAN_CHECK(!result.gradient || result.gradient.shape == logits.shape);
  const std::vector<double> values = host::widen(logits);
  const auto count = static_cast<double>(values.size());
  std::vector<double> gradient(values.size());
  double loss = 0.0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const bool finite = std::isfinite(values[n]);
    loss += finite ? binary_loss(values[n], target) : kNan;
    gradient[n] = finite ? (sigmoid(values[n]) - double{target}) / count : kNan;
  }
  write_result(result, loss / count, std::move(gradient));
}

void HostBackend::hinge_loss(const Tensor& logits, SourceTerm term, const LossResult& result) {
  ACGAN_CHECK(logits.dtype == DType::F32 && logits.count() > 0);
  ACGAN_CHECK(!result.gradient || result.gradient.shape == logits.shape);
  const std::vector<double> values = host::widen(logits);
  const auto count = static_cast<double>(values.size());
  const double slope = term == SourceTerm::Fake ? 1.0 : -1.0;
  std::vector<double> gradient(values.size());
  double loss = 0.0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double margin = term == SourceTerm::Generator ? 0.0 : 1.0;
    const double value = margin + slope * values[n];
    const bool counts = term == SourceTerm::Generator || value > 0.0;
    const bool finite = std::isfinite(values[n]);
    loss += !finite ? kNan : counts ? value : 0.0;
    gradient[n] = !finite ? kNan : counts ? slope / count : 0.0;
  }
  write_result(result, loss / count, std::move(gradient));
}

void HostBackend::softmax_cross_entropy(const Tensor& logits, const Tensor& labels,
                                        const LossResult& result, float* correct) {
  ACGAN_CHECK(logits.shape.rank() == 2 && logits.dtype == DType::F32 && logits.count() > 0);
  ACGAN_CHECK(labels.shape == Shape{logits.shape[0]});
  ACGAN_CHECK(!result.gradient || result.gradient.shape == logits.shape);
  const auto rows = static_cast<std::size_t>(logits.shape[0]);
  const auto classes = static_cast<std::size_t>(logits.shape[1]);
  const float* values = logits.as<float>();
  const std::int32_t* label = labels.as<std::int32_t>();
  std::vector<double> gradient(rows * classes);
  double loss = 0.0;
  int hits = 0;
  for (std::size_t n = 0; n < rows; ++n) {
    ACGAN_CHECK(label[n] >= 0);
    const RowLoss row =
        softmax_row({values + n * classes, classes}, static_cast<std::size_t>(label[n]),
                    {gradient.data() + n * classes, classes});
    loss += row.loss;
    hits += row.correct ? 1 : 0;
  }
  const auto count = static_cast<double>(rows);
  for (double& value : gradient) value /= count;
  write_result(result, loss / count, std::move(gradient));
  if (correct != nullptr) *correct = static_cast<float>(hits / count);
}

}  // namespace acgan
