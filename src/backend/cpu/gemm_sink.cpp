#include "backend/cpu/gemm_sink.h"

#include <algorithm>

#include "backend/cpu/gemm_vector.h"
#include "backend/cpu/vector_activation.h"

namespace acgan::gemm {
namespace {

// destination[i] = activation(sums[i] + bias[i] + old destination[i]); what is absent adds nothing.
template <Activation kActivation, typename T>
void store_row(T* destination, const float* sums, const float* bias, Accumulation accumulation,
               std::int64_t count) {
  cpu::for_each_vector(0, count, [&](std::int64_t i, auto lanes) {
    cpu::Float8 value = cpu::load(sums + i, lanes);
    if (bias != nullptr) value += cpu::load(bias + i, lanes);
    if (accumulation == Accumulation::Add) value += cpu::load(destination + i, lanes);
    cpu::store(destination + i, cpu::activate<kActivation>(value), lanes);
  });
}

// Calls visitor(store) with store(destination, sums, first column, columns).
template <typename T, typename Visitor>
void with_row_store(const SinkOptions& options, const Visitor& visitor) {
  cpu::visit_activation(options.activation, [&](auto activation) {
    visitor([&](T* destination, const float* sums, std::int64_t column, std::int64_t columns) {
      const float* bias = options.bias == nullptr ? nullptr : options.bias + column;
      store_row<activation()>(destination, sums, bias, options.accumulation, columns);
    });
  });
}

// to[kWidth, kWidth] = transpose of from[rows, columns], the rest zero.
void transpose_block(const float* from, std::int64_t stride, std::int64_t rows,
                     std::int64_t columns, float* to) {
  Vector block[kWidth] = {};
  if (columns == kWidth) {
    for (std::int64_t i = 0; i < rows; ++i) block[i] = load(from + i * stride);
  } else {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) block[i][j] = from[i * stride + j];
    }
  }
  transpose(block);
  for (int i = 0; i < kWidth; ++i) gemm::store(to + i * kWidth, block[i]);
}

}  // namespace

template <typename T>
void MatrixSink<T>::store(std::int64_t row, std::int64_t rows, std::int64_t column,
                          std::int64_t columns, const float* sums, std::int64_t stride) const {
  with_row_store<T>(options_, [&](const auto& store_part) {
    for (std::int64_t i = 0; i < rows; ++i) {
      store_part(destination_ + (row + i) * stride_ + column, sums + i * stride, column, columns);
    }
  });
}

template <typename T>
void TransposedSink<T>::store(std::int64_t row, std::int64_t rows, std::int64_t column,
                              std::int64_t columns, const float* sums, std::int64_t stride) const {
  alignas(64) float block[kWidth * kWidth];
  with_row_store<T>(options_, [&](const auto& store_part) {
    for (std::int64_t j = 0; j < columns; j += kWidth) {
      const std::int64_t width = std::min<std::int64_t>(kWidth, columns - j);
      for (std::int64_t i = 0; i < rows; i += kWidth) {
        const std::int64_t height = std::min<std::int64_t>(kWidth, rows - i);
        transpose_block(sums + i * stride + j, stride, height, width, block);
        for (std::int64_t k = 0; k < width; ++k) {
          store_part(destination_ + (column + j + k) * stride_ + row + i, block + k * kWidth,
                     row + i, height);
        }
      }
    }
  });
}

template <typename T>
void PixelSink<T>::store(std::int64_t row, std::int64_t rows, std::int64_t column,
                         std::int64_t columns, const float* sums, std::int64_t stride) const {
  const std::int64_t positions = grid_.grid_h * grid_.grid_w;
  std::int64_t image = row / positions;
  std::int64_t a = row % positions / grid_.grid_w;
  std::int64_t b = row % grid_.grid_w;
  with_row_store<T>(options_, [&](const auto& store_part) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t y = grid_.top + a * grid_.stride;
      const std::int64_t x = grid_.left + b * grid_.stride;
      const std::int64_t pixel = (image * grid_.image_h + y) * grid_.image_w + x;
      store_part(images_ + pixel * grid_.channels + column, sums + i * stride, column, columns);
      if (++b < grid_.grid_w) continue;
      b = 0;
      if (++a < grid_.grid_h) continue;
      a = 0;
      ++image;
    }
  });
}

template class MatrixSink<float>;
template class MatrixSink<Half>;
template class MatrixSink<BFloat16>;
template class TransposedSink<float>;
template class TransposedSink<Half>;
template class TransposedSink<BFloat16>;
template class PixelSink<float>;
template class PixelSink<Half>;
template class PixelSink<BFloat16>;

}  // namespace acgan::gemm
