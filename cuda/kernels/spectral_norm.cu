#include <algorithm>
#include <cmath>

#include "cuda/kernels.h"
#include "cuda/tile/reduce.cuh"
#include "cuda/tile/vector_access.cuh"

// Products with a weight matrix and its transpose, each read once; sums in a fixed order.
namespace acgan::cuda {
namespace {

constexpr int kMaximumOptimizers = 4;  // that share one parameter array
constexpr int kWidth = kVectorWidth<float>;
constexpr unsigned kUnitThreads = 1024;
constexpr std::int64_t kMaximumSplits = 64;  // partial sums of one column
constexpr std::int64_t kLeastRows = 16;      // of a split
constexpr std::int64_t kEnoughBlocks = 1024;

struct Matrix {
  const float* values;
  std::int64_t rows, columns;
};

Matrix matrix_of(const Tensor& weight) {
  return {weight.as<float>(), weight.rows(), weight.row_size()};
}

// Rows that begin and end on whole vectors.
template <typename... T>
bool rows_of_vectors(const Matrix& matrix, const T*... data) {
  return matrix.columns % kWidth == 0 && vectors_allowed<kWidth>(data...);
}

std::int64_t column_blocks(std::int64_t columns) {
  return (columns + kElementwiseThreads - 1) / kElementwiseThreads;
}

std::int64_t row_splits(std::int64_t rows, std::int64_t columns) {
  const std::int64_t most = std::min(kMaximumSplits, (rows + kLeastRows - 1) / kLeastRows);
  return std::clamp<std::int64_t>(kEnoughBlocks / column_blocks(columns), 1, most);
}

// Of the optimisers that moved the weight.
struct States {
  const OptimizerState* state[kMaximumOptimizers];
  int count;
};

__device__ __forceinline__ bool all_skip(const States& states) {
  if (states.count == 0) return false;
#pragma unroll  // by constants: else the array moves to local memory
  for (int i = 0; i < kMaximumOptimizers; ++i) {
    if (i < states.count && states.state[i]->nonfinite == 0) return false;
  }
  return true;
}

// partials [splits, columns]: the rows' shares in W^T u.
__global__ void __launch_bounds__(kElementwiseThreads)
    transposed_product_kernel(Matrix w, const float* u, float* partials, States states) {
  if (all_skip(states)) return;
  const std::int64_t column = global_index();
  if (column >= w.columns) return;
  const std::int64_t share = (w.rows + gridDim.y - 1) / gridDim.y;
  const std::int64_t begin = blockIdx.y * share;
  const std::int64_t end = begin + share < w.rows ? begin + share : w.rows;
  float sum = 0.0f;
#pragma unroll 8
  for (std::int64_t row = begin; row < end; ++row) {
    sum += u[row] * w.values[row * w.columns + column];
  }
  partials[blockIdx.y * w.columns + column] = sum;
}

__global__ void __launch_bounds__(kElementwiseThreads)
    sum_columns_kernel(const float* partials, std::int64_t splits, std::int64_t columns,
                       float* product, States states) {
  if (all_skip(states)) return;
  const std::int64_t column = global_index();
  if (column >= columns) return;
  float sum = 0.0f;
  for (std::int64_t split = 0; split < splits; ++split) sum += partials[split * columns + column];
  product[column] = sum;
}

// One block: unit = values / |values|, or left alone where they are zeros; *sigma = |values|,
// unless null.
__global__ void __launch_bounds__(kUnitThreads)
    unit_vector_kernel(const float* values, std::int64_t count, float* unit, float* sigma,
                       States states) {
  if (all_skip(states)) return;
  SHARED(float, shared_length);
  float squares = 0.0f;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) squares += values[i] * values[i];
  squares = block_sum(squares);
  if (threadIdx.x == 0) {
    const float length = std::sqrt(squares);
    shared_length = length;
    if (sigma != nullptr) *sigma = length < kSmallestSigma ? kSmallestSigma : length;
  }
  __syncthreads();
  const float length = shared_length;
  if (length == 0.0f) return;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) unit[i] = values[i] / length;
}

// A block a row: body(column, Constant<n>) over it.
template <int kVector, typename Body>
__device__ __forceinline__ void for_row_columns(std::int64_t columns, const Body& body) {
  const std::int64_t stride = std::int64_t{blockDim.x} * kVector;
#pragma unroll 4
  for (std::int64_t j = std::int64_t{threadIdx.x} * kVector; j < columns; j += stride) {
    body(j, Constant<kVector>{});
  }
}

// result [rows]: the products of a's rows with b's, which are `b_stride` apart.
template <int kVector>
__global__ void __launch_bounds__(kElementwiseThreads)
    row_products_kernel(Matrix a, const float* b, std::int64_t b_stride, float* result,
                        States states) {
  if (all_skip(states)) return;
  const float* row_a = a.values + blockIdx.x * a.columns;
  const float* row_b = b + blockIdx.x * b_stride;
  float sum = 0.0f;
  for_row_columns<kVector>(a.columns, [&]<int n>(std::int64_t j, Constant<n>) {
    float x[n], y[n];
    load(row_a + j, x);
    load(row_b + j, y);
#pragma unroll
    for (int e = 0; e < n; ++e) sum += x[e] * y[e];
  });
  sum = block_sum(sum);
  if (threadIdx.x == 0) result[blockIdx.x] = sum;
}

template <typename T, int kVector>
__global__ void __launch_bounds__(kElementwiseThreads)
    divide_kernel(const float* master, std::int64_t count, const float* sigma, T* working,
                  States states) {
  if (all_skip(states)) return;
  const float divisor = *sigma;
  for_own_elements<kVector>(count, [&]<int n>(std::int64_t i, Constant<n>) {
    float value[n];
    load(master + i, value);
#pragma unroll
    for (int e = 0; e < n; ++e) value[e] /= divisor;
    store(working + i, value);
  });
}

// One block: *scaled = sum of values / *sigma.
__global__ void __launch_bounds__(kUnitThreads)
    scaled_sum_kernel(const float* values, std::int64_t count, const float* sigma, float* scaled) {
  float sum = 0.0f;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) sum += values[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *scaled = sum / *sigma;
}

struct BackwardArrays {
  float* gradient;
  std::int64_t columns;
  const float *u, *v, *sigma;
  const float* product;  // <G, W / sigma>
};

template <int kVector>
__global__ void __launch_bounds__(kElementwiseThreads) backward_kernel(BackwardArrays arrays) {
  const float divisor = *arrays.sigma;
  const float along = *arrays.product * arrays.u[blockIdx.x];
  float* row = arrays.gradient + blockIdx.x * arrays.columns;
  for_row_columns<kVector>(arrays.columns, [&]<int n>(std::int64_t j, Constant<n>) {
    float g[n], v[n];
    load(row + j, g);
    load(arrays.v + j, v);
#pragma unroll
    for (int e = 0; e < n; ++e) g[e] = (g[e] - along * v[e]) / divisor;
    store(row + j, g);
  });
}

dim3 row_grid(const Matrix& matrix) { return {static_cast<unsigned>(matrix.rows), 1, 1}; }

void launch_row_products(const Matrix& a, const float* b, std::int64_t b_stride, float* result,
                         const States& states, Stream stream) {
  const bool vectors = rows_of_vectors(a, a.values, b);
  launch(vectors ? row_products_kernel<kWidth> : row_products_kernel<1>, row_grid(a),
         kElementwiseBlock, 0, stream, a, b, b_stride, result, states);
}

// Scratch: partial sums of columns, their sums, the rows' products.
void launch_iteration(const SpectralWeight& weight, float* scratch, const States& states,
                      Stream stream) {
  const Matrix w = matrix_of(weight.master);
  const std::int64_t splits = row_splits(w.rows, w.columns);
  const auto blocks = static_cast<unsigned>(column_blocks(w.columns));
  float* product = scratch + splits * w.columns;
  float* row_products = product + w.columns;
  float *u = weight.u.as<float>(), *v = weight.v.as<float>();
  const dim3 unit_block{kUnitThreads, 1, 1};
  launch(transposed_product_kernel, dim3{blocks, static_cast<unsigned>(splits), 1},
         kElementwiseBlock, 0, stream, w, u, scratch, states);
  launch(sum_columns_kernel, dim3{blocks, 1, 1}, kElementwiseBlock, 0, stream, scratch, splits,
         w.columns, product, states);
  launch(unit_vector_kernel, dim3{1, 1, 1}, unit_block, 0, stream, product, w.columns, v, nullptr,
         states);
  launch_row_products(w, v, 0, row_products, states, stream);
  launch(unit_vector_kernel, dim3{1, 1, 1}, unit_block, 0, stream, row_products, w.rows, u,
         weight.sigma.as<float>(), states);
}

}  // namespace

std::int64_t spectral_norm_scratch(std::int64_t rows, std::int64_t columns) {
  return (row_splits(rows, columns) + 1) * columns + rows + 1;
}

void launch_spectral_normalize(const SpectralNormalization& arguments, float* scratch,
                               Stream stream) {
  ACGAN_CHECK(arguments.states.size() <= kMaximumOptimizers);
  States states{};
  for (const OptimizerState* state : arguments.states) states.state[states.count++] = state;
  const SpectralWeight& weight = arguments.weight;
  for (int i = 0; i < arguments.power_iterations; ++i) {
    launch_iteration(weight, scratch, states, stream);
  }
  const float* master = weight.master.as<float>();
  const std::int64_t count = weight.master.count();
  visit_dtype(arguments.working.dtype, [&]<typename T>(T) {
    T* working = arguments.working.as<T>();
    const bool vectors = vectors_allowed<kWidth>(master) && vectors_allowed<kWidth>(working);
    launch(vectors ? divide_kernel<T, kWidth> : divide_kernel<T, 1>,
           elementwise_grid(count, vectors ? kWidth : 1), kElementwiseBlock, 0, stream, master,
           count, weight.sigma.as<float>(), working, states);
  });
}

void launch_spectral_norm_backward(const SpectralWeight& weight, const Tensor& gradient,
                                   float* scratch, Stream stream) {
  const Matrix w = matrix_of(weight.master);
  const BackwardArrays arrays{.gradient = gradient.as<float>(),
                              .columns = w.columns,
                              .u = weight.u.as<float>(),
                              .v = weight.v.as<float>(),
                              .sigma = weight.sigma.as<float>(),
                              .product = scratch + w.rows};
  launch_row_products(w, arrays.gradient, w.columns, scratch, States{}, stream);
  launch(scaled_sum_kernel, dim3{1, 1, 1}, dim3{kUnitThreads, 1, 1}, 0, stream, scratch, w.rows,
         arrays.sigma, scratch + w.rows);
  const bool vectors = rows_of_vectors(w, arrays.gradient, arrays.v);
  launch(vectors ? backward_kernel<kWidth> : backward_kernel<1>, row_grid(w), kElementwiseBlock, 0,
         stream, arrays);
}

}  // namespace acgan::cuda
