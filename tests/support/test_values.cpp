#include "support/test_values.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace acgan::test {
namespace {

// Below this a storage type has no relative precision left (F32: backends may flush to zero).
double smallest_step(DType dtype) { return dtype == DType::F16 ? 0x1p-25 : 0x1p-126; }

double allowed_error(double value, double magnitude, double terms, DType dtype, Rounding rounding) {
  const double unit = rounding_unit(dtype);
  const double sum_error = 0x1p-24 * (4.0 + std::sqrt(terms)) * magnitude;
  const double second = rounding == Rounding::Twice ? unit * (magnitude + std::abs(value)) : 0.0;
  return 1.001 * unit * std::abs(value) + second + sum_error + smallest_step(dtype);
}

}  // namespace

double rounding_unit(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return 0x1p-24;
    case DType::F16:
      return 0x1p-11;
    case DType::BF16:
      return 0x1p-8;
    default:
      ACGAN_CHECK(!"floating-point dtype");
  }
}

std::vector<double> random_values(std::int64_t count, unsigned seed, double low, double high) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> distribution(low, high);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = distribution(generator);
  return values;
}

std::vector<double> random_integers(std::int64_t count, unsigned seed, int low, int high) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> distribution(low, high);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = distribution(generator);
  return values;
}

void check_close(const std::vector<double>& actual, const Reference& expected, DType dtype,
                 Rounding rounding) {
  REQUIRE(actual.size() == expected.value.size());
  REQUIRE(actual.size() == expected.magnitude.size());
  double error = 0.0;
  double length = 0.0;
  double limit = 0.0;  // of `error`, from the sums alone
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double value = expected.value[i];
    const double difference = std::abs(actual[i] - value);
    const double sum_error =
        0x1p-24 * (4.0 + std::sqrt(static_cast<double>(expected.terms))) * expected.magnitude[i];
    error += difference * difference;
    length += value * value;
    limit += sum_error * sum_error;
    const double allowed = allowed_error(value, expected.magnitude[i],
                                         static_cast<double>(expected.terms), dtype, rounding);
    if (difference <= allowed) continue;
    INFO("element " << i << " of " << actual.size() << ", allowed error " << allowed);
    CHECK(actual[i] == value);
    return;
  }
  const double roundings = rounding == Rounding::Twice ? 2.0 : 1.0;
  const double whole = roundings * rounding_unit(dtype) * std::sqrt(length) + std::sqrt(limit) +
                       smallest_step(dtype) * std::sqrt(static_cast<double>(actual.size()));
  CHECK(std::sqrt(error) <= whole);
}

void check_equal(const std::vector<double>& actual, const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  const auto [a, e] = std::mismatch(actual.begin(), actual.end(), expected.begin());
  if (a == actual.end()) {
    CHECK(a == actual.end());
    return;
  }
  INFO("element " << a - actual.begin() << " of " << actual.size());
  CHECK(*a == *e);
}

std::vector<double> numerical_gradient(
    std::vector<double> values, double step,
    const std::function<double(const std::vector<double>&)>& loss) {
  std::vector<double> gradient(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double centre = values[i];
    const auto at = [&](double offset) {
      values[i] = centre + offset * step;
      return loss(values);
    };
    const double near = at(1.0) - at(-1.0);
    const double far = at(2.0) - at(-2.0);
    gradient[i] = (8.0 * near - far) / (12.0 * step);
    values[i] = centre;
  }
  return gradient;
}

void check_gradient(const std::vector<double>& actual, const std::vector<double>& expected,
                    double tolerance) {
  REQUIRE(actual.size() == expected.size());
  double largest = 0.0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  REQUIRE(largest > 0.0);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::abs(actual[i] - expected[i]) <= tolerance * largest) continue;
    INFO("element " << i << " of " << actual.size() << ", largest " << largest);
    CHECK(actual[i] == expected[i]);
    return;
  }
  CHECK(largest > 0.0);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace acgan::test
