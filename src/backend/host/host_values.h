#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/backend.h"

// How the reference reads and writes tensors: everything is widened to double first and rounded
// once at the end, so the loops in between are nothing but the formula.
namespace acgan::host {

inline std::vector<double> widen(const Tensor& tensor) {
  return visit_dtype(tensor.dtype, [&]<typename T>(T) {
    const std::span<const T> stored(tensor.as<T>(), static_cast<std::size_t>(tensor.count()));
    std::vector<double> values;
    values.reserve(stored.size());
    for (const T value : stored) values.push_back(to_float(value));
    return values;
  });
}

// An optional vector, such as a bias: zeros where there is none.
inline std::vector<double> widen_or_zeros(const Tensor& tensor, std::int64_t count) {
  if (!tensor) return std::vector<double>(static_cast<std::size_t>(count), 0.0);
  ACGAN_CHECK(tensor.count() == count);
  return widen(tensor);
}

inline void store(const Tensor& tensor, const std::vector<double>& values,
                  Accumulation accumulation = Accumulation::Overwrite) {
  ACGAN_CHECK(tensor.count() == static_cast<std::int64_t>(values.size()));
  visit_dtype(tensor.dtype, [&]<typename T>(T) {
    T* stored = tensor.as<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool add = accumulation == Accumulation::Add;
      const double value = add ? to_float(stored[i]) + values[i] : values[i];
      stored[i] = from_float<T>(static_cast<float>(value));
    }
  });
}

// A NaN passes through every activation: a fault that is hidden cannot be skipped.
inline double activate(double value, Activation activation) {
  switch (activation) {
    case Activation::None:
      return value;
    case Activation::Relu:
      return value < 0.0 ? 0.0 : value;
    case Activation::LeakyRelu:
      return value < 0.0 ? value * double{kLeakySlope} : value;
  }
  ACGAN_CHECK(!"known activation");
}

// Slope of the activation, told from the sign of its input or of its output.
inline double activation_slope(double value, Activation activation) {
  switch (activation) {
    case Activation::None:
      return 1.0;
    case Activation::Relu:
      return value > 0.0 ? 1.0 : 0.0;
    case Activation::LeakyRelu:
      return value > 0.0 ? 1.0 : double{kLeakySlope};
  }
  ACGAN_CHECK(!"known activation");
}

}  // namespace acgan::host
