#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "support/device_value.h"
#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

DType any_dtype() { return GENERATE(DType::F32, DType::F16, DType::BF16); }

struct LossReference {
  double loss = 0.0;
  double correct = 0.0;
  Values gradient;
};

LossReference bce(const Values& logits, double target) {
  LossReference result;
  const auto count = static_cast<double>(logits.size());
  for (const double l : logits) {
    // log(1 + exp(l)) = l + log(1 + exp(-l)), whichever does not overflow
    const double log_sum = l > 0.0 ? l + std::log1p(std::exp(-l)) : std::log1p(std::exp(l));
    result.loss += (log_sum - target * l) / count;
    result.gradient.push_back((1.0 / (1.0 + std::exp(-l)) - target) / count);
  }
  return result;
}

LossReference hinge(const Values& logits, SourceTerm term) {
  LossReference result;
  const auto count = static_cast<double>(logits.size());
  for (const double l : logits) {
    const double distance = term == SourceTerm::Real ? 1.0 - l : 1.0 + l;
    const double slope = term == SourceTerm::Real ? -1.0 : 1.0;
    const bool is_generator = term == SourceTerm::Generator;
    result.loss += (is_generator ? -l : std::max(0.0, distance)) / count;
    result.gradient.push_back((is_generator ? -1.0 : distance > 0.0 ? slope : 0.0) / count);
  }
  return result;
}

LossReference cross_entropy(const Values& logits, const Values& labels) {
  LossReference result;
  const std::size_t rows = labels.size();
  const std::size_t classes = logits.size() / rows;
  const auto count = static_cast<double>(rows);
  for (std::size_t n = 0; n < rows; ++n) {
    const double* row = &logits[n * classes];
    const auto label = static_cast<std::size_t>(labels[n]);
    const double largest = *std::max_element(row, row + classes);
    double sum = 0.0;
    for (std::size_t k = 0; k < classes; ++k) sum += std::exp(row[k] - largest);
    result.loss += (largest + std::log(sum) - row[label]) / count;
    if (row[label] == largest) result.correct += 1.0 / count;
    for (std::size_t k = 0; k < classes; ++k) {
      const double softmax = std::exp(row[k] - largest) / sum;
      result.gradient.push_back((softmax - (k == label ? 1.0 : 0.0)) / count);
    }
  }
  return result;
}

// Gradients times the loss scale: softmax - one_hot and the like, of size up to scale / count.
Reference scaled(Values gradient, double scale, std::size_t count) {
  for (double& value : gradient) value *= scale;
  const Values magnitude(gradient.size(), scale / static_cast<double>(count));
  return {std::move(gradient), magnitude, 16};
}

class LossFixture : public TensorFixture {
 protected:
  LossResult into(const Tensor& gradient, Accumulation accumulation = Accumulation::Overwrite) {
    return {.loss = loss.get(),
            .accumulation = accumulation,
            .gradient = gradient,
            .scaler = scaler.get()};
  }
  void scale_losses_by(float scale) {
    OptimizerState state;
    state.loss_scale = scale;
    scaler.write(state);
  }
  static auto close_to(double value) { return Catch::WithinAbs(value, 1e-6 + 1e-6 * value); }

  DeviceValue<float> loss{backend(), std::numeric_limits<float>::quiet_NaN()};
  DeviceValue<float> correct{backend(), std::numeric_limits<float>::quiet_NaN()};
  DeviceValue<OptimizerState> scaler{backend(), OptimizerState{}};
};

}  // namespace

TEST_CASE_METHOD(LossFixture, "binary cross entropy is close to float64", "[ops][loss]") {
  const DType dtype = any_dtype();
  const std::int64_t count = GENERATE(1, 3, 64, 1023);
  const float target = GENERATE(0.0f, 1.0f, 0.9f);
  const float scale = GENERATE(1.0f, 128.0f, 16384.0f);
  CAPTURE(name_of(dtype), count, target, scale);
  const Values logits = rounded(random_values(count, 1, -8.0, 8.0), DType::F32);
  const LossReference expected = bce(logits, double{target});
  const Tensor view = input({count, 1}, DType::F32, logits);
  const Tensor gradient = output({count, 1}, dtype);
  scale_losses_by(scale);
  backend().bce_with_logits(view, target, into(gradient));
  CHECK_THAT(loss.read(), close_to(expected.loss));  // never scaled
  check_close(read(gradient), scaled(expected.gradient, scale, logits.size()), dtype);

  backend().bce_with_logits(view, target, into({}, Accumulation::Add));
  CHECK_THAT(loss.read(), close_to(2.0 * expected.loss));
}

TEST_CASE_METHOD(LossFixture, "hinge loss is close to float64", "[ops][loss]") {
  const DType dtype = any_dtype();
  const std::int64_t count = GENERATE(1, 3, 64, 1023);
  const SourceTerm term = GENERATE(SourceTerm::Real, SourceTerm::Fake, SourceTerm::Generator);
  const float scale = GENERATE(1.0f, 16384.0f);
  CAPTURE(name_of(dtype), count, static_cast<int>(term), scale);
  const Values logits = rounded(random_values(count, 7, -3.0, 3.0), DType::F32);
  const LossReference expected = hinge(logits, term);
  const Tensor view = input({count, 1}, DType::F32, logits);
  const Tensor gradient = output({count, 1}, dtype);
  scale_losses_by(scale);
  backend().hinge_loss(view, term, into(gradient));
  CHECK_THAT(loss.read(), close_to(expected.loss));
  check_close(read(gradient), scaled(expected.gradient, scale, logits.size()), dtype);

  backend().hinge_loss(view, term, into({}, Accumulation::Add));
  CHECK_THAT(loss.read(), close_to(2.0 * expected.loss));
}

TEST_CASE_METHOD(LossFixture, "a hinge does not hide logits that are not finite", "[ops][loss]") {
  const double fault = GENERATE(as<double>{}, kInfinity, -kInfinity, std::nan(""));
  const SourceTerm term = GENERATE(SourceTerm::Real, SourceTerm::Fake, SourceTerm::Generator);
  const Tensor gradient = output({3}, DType::F32);
  backend().hinge_loss(input({3}, DType::F32, {0.5, fault, 2.0}), term, into(gradient));
  CHECK(!std::isfinite(loss.read()));
  CHECK(!std::isfinite(read(gradient)[1]));
  CHECK(std::isfinite(read(gradient)[0]));
}

TEST_CASE_METHOD(LossFixture, "softmax cross entropy is close to float64", "[ops][loss]") {
  const DType dtype = any_dtype();
  const std::int64_t rows = GENERATE(1, 3, 64, 257);
  const std::int64_t classes = GENERATE(1, 2, 7, 10);
  const float scale = GENERATE(1.0f, 16384.0f);
  CAPTURE(name_of(dtype), rows, classes, scale);
  const Values logits = rounded(random_values(rows * classes, 2, -6.0, 6.0), DType::F32);
  const Values labels = random_integers(rows, 3, 0, static_cast<int>(classes) - 1);
  const LossReference expected = cross_entropy(logits, labels);
  const Tensor view = input({rows, classes}, DType::F32, logits);
  const Tensor label_view = input({rows}, DType::I32, labels);
  const Tensor gradient = output({rows, classes}, dtype);
  scale_losses_by(scale);
  backend().softmax_cross_entropy(view, label_view, into(gradient), correct.get());
  CHECK_THAT(loss.read(), close_to(expected.loss));
  CHECK_THAT(correct.read(), close_to(expected.correct));
  check_close(read(gradient), scaled(expected.gradient, scale, labels.size()), dtype);

  backend().softmax_cross_entropy(view, label_view, into({}, Accumulation::Add), nullptr);
  CHECK_THAT(loss.read(), close_to(2.0 * expected.loss));
}

TEST_CASE_METHOD(LossFixture, "losses without a scaler have the plain gradient", "[ops][loss]") {
  const Values logits{0.5, -1.5, 2.0, 0.25};
  const Tensor gradient = output({4}, DType::F32);
  LossResult result = into(gradient);
  result.scaler = nullptr;
  scale_losses_by(512.0f);
  backend().bce_with_logits(input({4}, DType::F32, logits), 1.0f, result);
  check_close(read(gradient), scaled(bce(logits, 1.0).gradient, 1.0, 4), DType::F32);

  const Tensor class_gradient = output({2, 2}, DType::F32);
  result.gradient = class_gradient;
  backend().softmax_cross_entropy(input({2, 2}, DType::F32, logits),
                                  input({2}, DType::I32, {1.0, 0.0}), result, nullptr);
  check_close(read(class_gradient), scaled(cross_entropy(logits, {1.0, 0.0}).gradient, 1.0, 2),
              DType::F32);
}

// What makes a dynamic loss scale back off.
TEST_CASE_METHOD(LossFixture, "a loss scale too large for half gives infinite gradients",
                 "[ops][loss]") {
  scale_losses_by(131072.0f);
  const Tensor gradient = output({2, 1}, DType::F16);
  backend().bce_with_logits(input({2, 1}, DType::F32, {-20.0, 20.0}), 1.0f, into(gradient));
  CHECK(read(gradient)[0] == -kInfinity);
  CHECK(std::abs(read(gradient)[1]) < 1e-3);
  CHECK_THAT(loss.read(), close_to(10.0));
}

TEST_CASE_METHOD(LossFixture, "losses of huge logits are finite and right", "[ops][loss]") {
  const double size = GENERATE(100.0, 1e4);
  const float target = GENERATE(0.0f, 1.0f);
  CAPTURE(size, target);
  const Values logits{size, -size, size, -size, 0.0, size};
  const Tensor gradient = output({6}, DType::F32);
  backend().bce_with_logits(input({6}, DType::F32, logits), target, into(gradient));
  CHECK_THAT(loss.read(), close_to(bce(logits, double{target}).loss));
  check_close(read(gradient), scaled(bce(logits, double{target}).gradient, 1.0, 6), DType::F32);

  const Values labels{1.0, 0.0};  // the first row is wrong by 2 * size, the second right
  const Values rows{size, -size, 0.0, size, -size, -size};
  const Tensor class_gradient = output({2, 3}, DType::F32);
  backend().softmax_cross_entropy(input({2, 3}, DType::F32, rows), input({2}, DType::I32, labels),
                                  into(class_gradient), correct.get());
  CHECK(loss.read() == static_cast<float>(size));  // mean of 2 * size and 0
  CHECK(correct.read() == 0.5f);
  check_close(read(class_gradient), {{0.5, -0.5, 0.0, 0.0, 0.0, 0.0}, Values(6, 0.5), 3},
              DType::F32);
}

TEST_CASE_METHOD(LossFixture, "logits that are not finite are not hidden", "[ops][loss]") {
  const double fault = GENERATE(as<double>{}, kInfinity, -kInfinity, std::nan(""));
  const float target = GENERATE(0.0f, 1.0f);
  const std::size_t place_of_fault = GENERATE(0, 2, 5);
  CAPTURE(fault, target, place_of_fault);
  Values logits{1.0, 2.0, -1.0, 0.5, 0.0, 3.0};
  logits[place_of_fault] = fault;
  const Tensor gradient = output({6}, DType::F32);
  backend().bce_with_logits(input({6}, DType::F32, logits), target, into(gradient));
  CHECK(!std::isfinite(loss.read()));
  CHECK(!std::isfinite(read(gradient)[place_of_fault]));  // so that the update is skipped

  const Tensor class_gradient = output({2, 3}, DType::F32);
  backend().softmax_cross_entropy(input({2, 3}, DType::F32, logits),
                                  input({2}, DType::I32, {0.0, 1.0}), into(class_gradient),
                                  correct.get());
  CHECK(!std::isfinite(loss.read()));
  CHECK(!std::isfinite(read(class_gradient)[place_of_fault]));
}

TEST_CASE_METHOD(HostFixture, "loss gradients equal finite differences", "[ops][loss][gradient]") {
  const Values logits = rounded(random_values(12, 4, -3.0, 3.0), DType::F32);
  const Values labels{2.0, 0.0, 1.0, 1.0};
  const float target = GENERATE(0.0f, 1.0f, 0.75f);
  DeviceValue<float> loss(backend(), 0.0f);
  const Tensor label_view = input({4}, DType::I32, labels);
  const auto binary = [&](const Values& at, const Tensor& gradient) {
    GuardedTensor tensor(backend(), {12}, DType::F32);
    tensor.write(at);
    backend().bce_with_logits(tensor.view(), target, {.loss = loss.get(), .gradient = gradient});
    return double{loss.read()};
  };
  const auto softmax = [&](const Values& at, const Tensor& gradient) {
    GuardedTensor tensor(backend(), {4, 3}, DType::F32);
    tensor.write(at);
    backend().softmax_cross_entropy(tensor.view(), label_view,
                                    {.loss = loss.get(), .gradient = gradient}, nullptr);
    return double{loss.read()};
  };
  const SourceTerm term = GENERATE(SourceTerm::Real, SourceTerm::Fake, SourceTerm::Generator);
  const auto hinged = [&](const Values& at, const Tensor& gradient) {
    GuardedTensor tensor(backend(), {12}, DType::F32);
    tensor.write(at);
    backend().hinge_loss(tensor.view(), term, {.loss = loss.get(), .gradient = gradient});
    return double{loss.read()};
  };
  Values off_the_kink = logits;  // where the slope jumps no difference quotient has it
  for (double& l : off_the_kink) {
    if (std::abs(std::abs(l) - 1.0) < 0.1) l *= 1.5;
  }
  const Tensor hinge_gradient = output({12}, DType::F32);
  hinged(off_the_kink, hinge_gradient);
  check_gradient(
      read(hinge_gradient),
      numerical_gradient(off_the_kink, 0x1p-5, [&](const Values& v) { return hinged(v, {}); }),
      1e-4);
  const Tensor binary_gradient = output({12}, DType::F32);
  const Tensor softmax_gradient = output({4, 3}, DType::F32);
  binary(logits, binary_gradient);
  softmax(logits, softmax_gradient);
  const double step = 0x1p-5;  // the loss is rounded to float: an error of 1e-7 / step
  check_gradient(read(binary_gradient),
                 numerical_gradient(logits, step, [&](const Values& v) { return binary(v, {}); }),
                 1e-4);
  check_gradient(read(softmax_gradient),
                 numerical_gradient(logits, step, [&](const Values& v) { return softmax(v, {}); }),
                 1e-4);
}

TEST_CASE_METHOD(LossFixture, "losses refuse labels and shapes that do not fit", "[ops][loss]") {
  const Tensor logits = in_out({2, 3}, DType::F32, Values(6, 1.0));
  const Tensor half = in_out({2, 3}, DType::F16, Values(6, 1.0));
  const Tensor gradient = in_out({3, 2}, DType::F32, Values(6, 1.0));
  const Tensor good = in_out({2}, DType::I32, {0.0, 2.0});
  for (const double label : {3.0, -1.0}) {
    const Tensor labels = in_out({2}, DType::I32, {0.0, label});
    if (on_device()) {
      const Tensor slopes = output({2, 3}, DType::F32);
      backend().softmax_cross_entropy(logits, labels, into(slopes), nullptr);
      CHECK(std::isnan(loss.read()));
      CHECK(std::isnan(read(slopes)[3]));
      continue;
    }
    CHECK_THROWS_AS(backend().softmax_cross_entropy(logits, labels, into({}), nullptr),
                    std::logic_error);
  }
  CHECK_THROWS_AS(backend().softmax_cross_entropy(logits, good, into(gradient), nullptr),
                  std::logic_error);
  CHECK_THROWS_AS(backend().softmax_cross_entropy(half, good, into({}), nullptr), std::logic_error);
  CHECK_THROWS_AS(backend().bce_with_logits(half, 1.0f, into({})), std::logic_error);
  CHECK_THROWS_AS(backend().bce_with_logits(logits, 1.0f, into(gradient)), std::logic_error);
}

}  // namespace acgan::test
