#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "ops/batch_norm_reference.h"
#include "support/tensor_fixture.h"
#include "support/test_values.h"

namespace acgan::test {
namespace {

using Values = std::vector<double>;

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

// Gradients jump where the input of the activation is 0; there dy is set to 0, so that rounding
// decides nothing.
Values away_from_kinks(Values dy, const BatchNormReference& forward) {
  for (std::size_t k = 0; k < dy.size(); ++k) {
    if (std::abs(forward.pre_activation[k]) < 1e-3) dy[k] = 0.0;
  }
  return dy;
}

std::vector<Shape> shapes() {
  return {{2, 1},        {3, 7},         {5, 1023},    {64, 65},        {7, 6272},
          {129, 16},     {1, 2, 2, 5},   {3, 4, 6, 3}, {5, 7, 7, 64},   {2, 14, 14, 128},
          {33, 5, 3, 8}, {3, 28, 28, 1}, {1500, 9},    {70, 14, 14, 24}};
}

DType any_dtype() { return GENERATE(DType::F32, DType::F16, DType::BF16); }
Activation any_activation() {
  return GENERATE(Activation::None, Activation::Relu, Activation::LeakyRelu);
}

class BatchNormFixture : public TensorFixture {
 protected:
  BatchNormForward forward_arguments(const Shape& shape, DType dtype) {
    const std::int64_t channels = shape.back();
    x = rounded(random_values(shape.count(), 1, -1.5, 2.5), dtype);
    gamma = rounded(random_values(channels, 2, 0.5, 2.0), DType::F32);
    beta = rounded(random_values(channels, 3), DType::F32);
    return {.x = input(shape, dtype, x),
            .gamma = input({channels}, DType::F32, gamma),
            .beta = input({channels}, DType::F32, beta),
            .activation = Activation::None,
            .y = output(shape, dtype),
            .mean = output({channels}, DType::F32),
            .variance = output({channels}, DType::F32)};
  }

  // `forward` must have been run: its mean and variance are read.
  BatchNormBackward backward_arguments(const BatchNormForward& forward, const Values& dy) {
    const std::int64_t channels = forward.x.shape.back();
    return {.x = forward.x,
            .dy = input(forward.x.shape, forward.x.dtype, dy),
            .gamma = forward.gamma,
            .beta = forward.beta,
            .mean = forward.mean,
            .variance = forward.variance,
            .activation = forward.activation,
            .dx = output(forward.x.shape, forward.x.dtype),
            .dgamma = output({channels}, DType::F32),
            .dbeta = output({channels}, DType::F32)};
  }

  Values x, gamma, beta;
};

}  // namespace

TEST_CASE_METHOD(BatchNormFixture, "batch norm forward is close to float64", "[ops][batch_norm]") {
  const DType dtype = any_dtype();
  const Activation activation = any_activation();
  const Shape shape = GENERATE(from_range(shapes()));
  CAPTURE(name_of(dtype), static_cast<int>(activation), shape.text());
  place(shape.back() % 3 == 0 ? Placement::OffByOne : Placement::Aligned);
  BatchNormForward arguments = forward_arguments(shape, dtype);
  arguments.activation = activation;
  backend().batch_norm_forward(arguments);

  const BatchNormReference expected(x, gamma, beta);
  check_close(read(arguments.y), expected.output(gamma, beta, activation), dtype);
  const Values size(index(shape.back()), 3.0);  // about twice the largest values and squares
  check_close(read(arguments.mean), {expected.mean, size, 16}, DType::F32);
  check_close(read(arguments.variance), {expected.variance, size, 16}, DType::F32);
}

TEST_CASE_METHOD(BatchNormFixture, "batch norm backward is close to float64", "[ops][batch_norm]") {
  const DType dtype = any_dtype();
  const Activation activation = any_activation();
  const Shape shape = GENERATE(from_range(shapes()));
  CAPTURE(name_of(dtype), static_cast<int>(activation), shape.text());
  BatchNormForward forward = forward_arguments(shape, dtype);
  forward.activation = activation;
  backend().batch_norm_forward(forward);
  const BatchNormReference reference(x, gamma, beta);
  const Values dy = away_from_kinks(rounded(random_values(shape.count(), 4), dtype), reference);
  const BatchNormGradients expected = batch_norm_backward(reference, x, dy, gamma, activation);

  BatchNormBackward arguments = backward_arguments(forward, dy);
  backend().batch_norm_backward(arguments);
  check_close(read(arguments.dx), expected.dx, dtype);
  check_close(read(arguments.dgamma), expected.dgamma, DType::F32);
  check_close(read(arguments.dbeta), expected.dbeta, DType::F32);

  // Once more in place, added to what is there.
  const auto before = static_cast<double>(random_integers(1, 5, 1, 9)[0]);
  const Values start(index(shape.back()), before);
  arguments.dy = arguments.dx = in_out(shape, dtype, dy);
  arguments.dgamma = in_out({shape.back()}, DType::F32, start);
  arguments.dbeta = in_out({shape.back()}, DType::F32, start);
  arguments.accumulation = Accumulation::Add;
  backend().batch_norm_backward(arguments);
  check_close(read(arguments.dx), expected.dx, dtype);
  const auto added = [&](Reference reference_sum) {
    for (double& value : reference_sum.value) value += before;
    for (double& magnitude : reference_sum.magnitude) magnitude += before;
    return reference_sum;
  };
  check_close(read(arguments.dgamma), added(expected.dgamma), DType::F32);
  check_close(read(arguments.dbeta), added(expected.dbeta), DType::F32);

  // And without the gradients of gamma and beta.
  arguments.dy = arguments.dx = in_out(shape, dtype, dy);
  arguments.dgamma = arguments.dbeta = {};
  backend().batch_norm_backward(arguments);
  check_close(read(arguments.dx), expected.dx, dtype);
}

// The mean of squares minus the square of the mean would lose everything here.
TEST_CASE_METHOD(BatchNormFixture, "batch statistics survive a mean far from zero",
                 "[ops][batch_norm]") {
  const Shape shape = GENERATE(Shape{64, 13}, Shape{5, 14, 14, 64}, Shape{2000, 3});
  CAPTURE(shape.text());
  const std::int64_t channels = shape.back();
  BatchNormForward arguments = forward_arguments(shape, DType::F32);
  for (double& value : x) value = 1000.0 + value;
  x = rounded(x, DType::F32);
  arguments.x = input(shape, DType::F32, x);
  backend().batch_norm_forward(arguments);
  const BatchNormReference expected(x, gamma, beta);
  const Values mean = read(arguments.mean);
  const Values variance = read(arguments.variance);
  const Values y = read(arguments.y);
  for (std::size_t c = 0; c < index(channels); ++c) {
    CHECK(std::abs(mean[c] - expected.mean[c]) <= 1.3e-4);  // two units in the last place
    CHECK(std::abs(variance[c] / expected.variance[c] - 1.0) <= 1e-5);
  }
  for (std::size_t k = 0; k < y.size(); ++k) {
    REQUIRE(std::abs(y[k] - expected.pre_activation[k]) <= 1e-3);
  }
}

// Sums of squares beyond 65504, the largest half.
TEST_CASE_METHOD(BatchNormFixture, "batch statistics of half values do not overflow",
                 "[ops][batch_norm]") {
  const Shape shape{65, 9};
  BatchNormForward arguments = forward_arguments(shape, DType::F16);
  for (double& value : x) value *= 20000.0;
  x = rounded(x, DType::F16);
  arguments.x = input(shape, DType::F16, x);
  backend().batch_norm_forward(arguments);
  const BatchNormReference expected(x, gamma, beta);
  check_close(read(arguments.y), expected.output(gamma, beta, Activation::None), DType::F16);
  check_close(read(arguments.variance), {expected.variance, expected.variance, 64}, DType::F32);
}

TEST_CASE_METHOD(BatchNormFixture, "batch norm of constant columns is beta", "[ops][batch_norm]") {
  const DType dtype = any_dtype();
  const Shape shape{6, 10};
  CAPTURE(name_of(dtype));
  BatchNormForward arguments = forward_arguments(shape, dtype);
  arguments.x = input(shape, dtype, Values(60, 3.0));
  backend().batch_norm_forward(arguments);
  check_equal(read(arguments.mean), Values(10, 3.0));
  check_equal(read(arguments.variance), Values(10, 0.0));
  Values expected;
  for (int row = 0; row < 6; ++row) expected.insert(expected.end(), beta.begin(), beta.end());
  check_equal(read(arguments.y), rounded(expected, dtype));
}

TEST_CASE_METHOD(BatchNormFixture, "batch norm keeps NaN in its channel", "[ops][batch_norm]") {
  const DType dtype = any_dtype();
  const Activation activation = any_activation();
  const Shape shape{20, 11};
  const double fault =
      GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity());
  CAPTURE(name_of(dtype), static_cast<int>(activation), fault);
  BatchNormForward arguments = forward_arguments(shape, dtype);
  arguments.activation = activation;
  x[5 * 11 + 4] = fault;
  arguments.x = input(shape, dtype, x);
  backend().batch_norm_forward(arguments);
  const Values y = read(arguments.y);
  for (std::size_t k = 0; k < y.size(); ++k) CHECK(std::isnan(y[k]) == (k % 11 == 4));
}

TEST_CASE_METHOD(BatchNormFixture, "running statistics take up a batch as often as told",
                 "[ops][batch_norm]") {
  const std::int64_t channels = GENERATE(1, 7, 64, 1023);
  const int times = GENERATE(0, 1, 2, 5);
  CAPTURE(channels, times);
  const Values mean = rounded(random_values(channels, 6), DType::F32);
  const Values variance = rounded(random_values(channels, 7, 0.0, 3.0), DType::F32);
  const Values start_mean = rounded(random_values(channels, 8), DType::F32);
  const Values start_variance = rounded(random_values(channels, 9, 0.0, 3.0), DType::F32);
  const Tensor mean_view = input({channels}, DType::F32, mean);
  const Tensor variance_view = input({channels}, DType::F32, variance);
  const Tensor running_mean = in_out({channels}, DType::F32, start_mean);
  const Tensor running_variance = in_out({channels}, DType::F32, start_variance);
  OwnedTensor memory(backend(), {static_cast<std::int64_t>(sizeof(OptimizerState))}, DType::U8);
  auto* state = static_cast<OptimizerState*>(memory.view().data);

  OptimizerState host_state;
  host_state.nonfinite = 1;  // the step is skipped: its statistics may be NaN
  backend().upload(memory.view(), &host_state);
  backend().batch_norm_update_running(mean_view, variance_view, 0.1f, times, state, running_mean,
                                      running_variance);
  check_equal(read(running_mean), start_mean);
  check_equal(read(running_variance), start_variance);

  const auto expected = [&](const Values& start, const Values& batch) {
    Reference result{start, Values(start.size(), 4.0), 16};
    for (std::size_t c = 0; c < start.size(); ++c) {
      const double keep = std::pow(0.9, times);
      result.value[c] = keep * start[c] + (1.0 - keep) * batch[c];
    }
    return result;
  };
  host_state.nonfinite = 0;
  backend().upload(memory.view(), &host_state);
  const bool with_state = GENERATE(true, false);
  backend().batch_norm_update_running(mean_view, variance_view, 0.1f, times,
                                      with_state ? state : nullptr, running_mean, running_variance);
  check_close(read(running_mean), expected(start_mean, mean), DType::F32);
  check_close(read(running_variance), expected(start_variance, variance), DType::F32);
}

TEST_CASE_METHOD(TensorFixture, "batch norm in inference uses the running statistics",
                 "[ops][batch_norm]") {
  const DType dtype = any_dtype();
  const Activation activation = any_activation();
  const Shape shape = GENERATE(Shape{1, 3}, Shape{5, 1023}, Shape{3, 7, 5, 64}, Shape{1, 2, 2, 1});
  CAPTURE(name_of(dtype), static_cast<int>(activation), shape.text());
  const std::int64_t channels = shape.back();
  const Values x = rounded(random_values(shape.count(), 11, -2.0, 2.0), dtype);
  const Values gamma = rounded(random_values(channels, 12), DType::F32);
  const Values beta = rounded(random_values(channels, 13), DType::F32);
  const Values mean = rounded(random_values(channels, 14), DType::F32);
  const Values variance = rounded(random_values(channels, 15, 0.1, 2.0), DType::F32);
  const Tensor y = output(shape, dtype);
  backend().batch_norm_apply(input(shape, dtype, x), input({channels}, DType::F32, gamma),
                             input({channels}, DType::F32, beta),
                             input({channels}, DType::F32, mean),
                             input({channels}, DType::F32, variance), activation, y);
  Reference expected{{}, {}, 16};
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::size_t c = k % index(channels);
    const double factor = gamma[c] / std::sqrt(variance[c] + 1e-5);
    expected.value.push_back(activate(factor * (x[k] - mean[c]) + beta[c], activation));
    expected.magnitude.push_back(std::abs(factor) * (std::abs(x[k]) + std::abs(mean[c])) +
                                 std::abs(beta[c]));
  }
  check_close(read(y), expected, dtype);
}

// With differences away from kinks, through statistics and activation.
TEST_CASE_METHOD(HostFixture, "batch norm gradients equal finite differences",
                 "[ops][batch_norm][gradient]") {
  const Activation activation = any_activation();
  CAPTURE(static_cast<int>(activation));
  const Shape shape{5, 3};
  const Values x{0.5,   -1.25, 2.0,  1.5, 0.25, -0.75, -1.0, 2.25,
                 0.375, 2.5,   -0.5, 1.0, -2.0, 1.0,   -1.5};
  const Values gamma{1.5, -0.75, 1.25};
  const Values beta{0.25, -0.375, 0.125};
  const Values direction = rounded(random_values(15, 21), DType::F32);  // dloss / dy
  for (const double value : BatchNormReference(x, gamma, beta).pre_activation) {
    REQUIRE(std::abs(value) > 0.03);  // else the data steps over a kink
  }
  const auto run = [&](const Values& at_x, const Values& at_gamma, const Values& at_beta,
                       const Tensor& mean, const Tensor& variance) {
    GuardedTensor x_tensor(backend(), shape, DType::F32);
    GuardedTensor gamma_tensor(backend(), {3}, DType::F32);
    GuardedTensor beta_tensor(backend(), {3}, DType::F32);
    GuardedTensor y(backend(), shape, DType::F32);
    x_tensor.write(at_x);
    gamma_tensor.write(at_gamma);
    beta_tensor.write(at_beta);
    backend().batch_norm_forward({.x = x_tensor.view(),
                                  .gamma = gamma_tensor.view(),
                                  .beta = beta_tensor.view(),
                                  .activation = activation,
                                  .y = y.view(),
                                  .mean = mean,
                                  .variance = variance});
    return dot(y.read(), direction);
  };
  const Tensor mean = output({3}, DType::F32);
  const Tensor variance = output({3}, DType::F32);
  const Tensor scratch_mean = output({3}, DType::F32);
  const Tensor scratch_variance = output({3}, DType::F32);
  const Tensor dx = output(shape, DType::F32);
  const Tensor dgamma = output({3}, DType::F32);
  const Tensor dbeta = output({3}, DType::F32);
  run(x, gamma, beta, mean, variance);
  backend().batch_norm_backward({.x = input(shape, DType::F32, x),
                                 .dy = input(shape, DType::F32, direction),
                                 .gamma = input({3}, DType::F32, gamma),
                                 .beta = input({3}, DType::F32, beta),
                                 .mean = mean,
                                 .variance = variance,
                                 .activation = activation,
                                 .dx = dx,
                                 .dgamma = dgamma,
                                 .dbeta = dbeta});
  const double step = 0x1p-7;
  const auto loss = [&](const Values& at_x, const Values& at_gamma, const Values& at_beta) {
    return run(at_x, at_gamma, at_beta, scratch_mean, scratch_variance);
  };
  const auto by_x = [&](const Values& v) { return loss(v, gamma, beta); };
  const auto by_gamma = [&](const Values& v) { return loss(x, v, beta); };
  const auto by_beta = [&](const Values& v) { return loss(x, gamma, v); };
  check_gradient(read(dx), numerical_gradient(x, step, by_x), 1e-4);
  check_gradient(read(dgamma), numerical_gradient(gamma, step, by_gamma), 1e-4);
  check_gradient(read(dbeta), numerical_gradient(beta, step, by_beta), 1e-4);
}

}  // namespace acgan::test
