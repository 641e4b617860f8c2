#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tensor/dtype.h"

namespace acgan::test {

// Reproducible test data; equal seeds give equal values.
std::vector<double> random_values(std::int64_t count, unsigned seed, double low = -1.0,
                                  double high = 1.0);
std::vector<double> random_integers(std::int64_t count, unsigned seed, int low, int high);

// A float64 result with what its error is measured against: the sum of the absolute terms behind
// each element, and how many there are.
struct Reference {
  std::vector<double> value;
  std::vector<double> magnitude;
  std::int64_t terms = 1;
};

// How often a value is rounded to the storage type on its way: twice where a backend may round a
// sum, then add to it and round again.
enum class Rounding { Once, Twice };

// Every element within one rounding of `dtype` and the error of a float sum; and the error of the
// whole, relative to its length, below one rounding.
void check_close(const std::vector<double>& actual, const Reference& expected, DType dtype,
                 Rounding rounding = Rounding::Once);
// Equal as numbers, element by element (NaN equals nothing).
void check_equal(const std::vector<double>& actual, const std::vector<double>& expected);

// Four-point derivative of `loss` with respect to each value; exact for polynomials of degree 4.
std::vector<double> numerical_gradient(
    std::vector<double> values, double step,
    const std::function<double(const std::vector<double>&)>& loss);
// Largest difference, relative to the largest expected element, stays below `tolerance`.
void check_gradient(const std::vector<double>& actual, const std::vector<double>& expected,
                    double tolerance);

double dot(const std::vector<double>& a, const std::vector<double>& b);

// Half the distance between neighbouring values, relative to the value.
double rounding_unit(DType dtype);

}  // namespace acgan::test
