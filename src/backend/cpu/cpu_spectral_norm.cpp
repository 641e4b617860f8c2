#include <vector>

#include "backend/cpu/column_sums.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/parallel.h"
#include "backend/spectral_norm.h"

namespace acgan {
namespace {

using cpu::Float8;

// Sum of a[k] * b[k]: 64 products at a time in float, those sums in double.
double dot(const float* a, const float* b, std::int64_t count) {
  constexpr std::int64_t kVectors = 8;  // as many accumulators as hide the adder's latency
  cpu::DoubleSum sum;
  std::int64_t k = 0;
  for (; k + kVectors * cpu::kLanes <= count; k += kVectors * cpu::kLanes) {
    Float8 partial = {};
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < kVectors; ++v) {
      const std::int64_t at = k + v * cpu::kLanes;
      partial += cpu::load(a + at, cpu::AllLanes{}) * cpu::load(b + at, cpu::AllLanes{});
    }
    sum.add(partial);
  }
  cpu::for_each_vector(k, count, [&](std::int64_t at, auto lanes) {
    sum.add(cpu::load(a + at, lanes) * cpu::load(b + at, lanes));
  });
  double total = 0.0;
  for (std::int64_t lane = 0; lane < cpu::kLanes; ++lane) total += sum.lane(lane);
  return total;
}

// [columns]: W^T u.
std::vector<double> transposed_product(int threads, const float* w, const float* u,
                                       std::int64_t rows, std::int64_t columns) {
  const cpu::Tiling tiling(rows, columns);
  cpu::ColumnSums<1> sums(tiling);
  tiling.for_each_tile(threads, [&](const cpu::Tile& tile) {
    sums.add_tile(tile, [=](std::int64_t row, std::int64_t column, auto lanes, auto& partial) {
      partial[0] += u[row] * cpu::load(w + row * columns + column, lanes);
    });
  });
  std::vector<double> result(static_cast<std::size_t>(columns));
  for (std::int64_t j = 0; j < columns; ++j) {
    result[static_cast<std::size_t>(j)] = sums.total(0, j);
  }
  return result;
}

void iterate(int threads, const SpectralWeight& weight) {
  const std::int64_t rows = weight.master.rows(), columns = weight.master.row_size();
  const float* w = weight.master.as<float>();
  float *u = weight.u.as<float>(), *v = weight.v.as<float>();
  write_unit_vector(transposed_product(threads, w, u, rows, columns), v);
  std::vector<double> w_v(static_cast<std::size_t>(rows));
  cpu::for_each_task(threads, rows, rows * columns, [&](std::int64_t i) {
    w_v[static_cast<std::size_t>(i)] = dot(w + i * columns, v, columns);
  });
  *weight.sigma.as<float>() = sigma_of(write_unit_vector(w_v, u));
}

}  // namespace

void CpuBackend::spectral_normalize(const SpectralNormalization& arguments) {
  check_spectral_normalization(arguments);
  if (all_skip(arguments.states)) return;
  const SpectralWeight& weight = arguments.weight;
  for (int i = 0; i < arguments.power_iterations; ++i) iterate(threads(), weight);
  const float sigma = *weight.sigma.as<float>();
  const float* w = weight.master.as<float>();
  visit_dtype(arguments.working.dtype, [&]<typename T>(T) {
    T* working = arguments.working.as<T>();
    cpu::for_each_vector(threads(), weight.master.count(), [=](std::int64_t i, auto lanes) {
      cpu::store(working + i, cpu::load(w + i, lanes) / sigma, lanes);
    });
  });
}

void CpuBackend::spectral_norm_backward(const SpectralWeight& weight, const Tensor& gradient) {
  check_spectral_gradient(weight, gradient);
  const std::int64_t rows = weight.master.rows(), columns = weight.master.row_size();
  const float *w = weight.master.as<float>(), *u = weight.u.as<float>(), *v = weight.v.as<float>();
  const float sigma = *weight.sigma.as<float>();
  float* g = gradient.as<float>();
  std::vector<double> products(static_cast<std::size_t>(rows));
  cpu::for_each_task(threads(), rows, rows * columns, [&](std::int64_t i) {
    products[static_cast<std::size_t>(i)] = dot(g + i * columns, w + i * columns, columns);
  });
  double product = 0.0;  // <G, W>
  for (const double each : products) product += each;
  const double scaled = product / double{sigma};  // <G, W / sigma>
  cpu::for_each_task(threads(), rows, rows * columns, [&](std::int64_t i) {
    const auto along = static_cast<float>(scaled * double{u[i]});
    float* row = g + i * columns;
    cpu::for_each_vector(0, columns, [=](std::int64_t j, auto lanes) {
      cpu::store(row + j, (cpu::load(row + j, lanes) - along * cpu::load(v + j, lanes)) / sigma,
                 lanes);
    });
  });
}

}  // namespace acgan
