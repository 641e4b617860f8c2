#pragma once

#include <cstdint>

#include "backend/backend.h"

namespace acgan::gemm {

// What happens to a finished block of sums: bias, activation, rounding to the storage type.
class ProductSink {
 public:
  virtual ~ProductSink() = default;
  // sums[rows, columns] (row stride `stride`) are elements [row, column] and on of the product.
  virtual void store(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                     const float* sums, std::int64_t stride) const = 0;
};

struct SinkOptions {
  const float* bias = nullptr;  // one value a column of the destination, or none
  Activation activation = Activation::None;
  Accumulation accumulation = Accumulation::Overwrite;
};

// destination[row, column], row stride `stride`.
template <typename T>
class MatrixSink : public ProductSink {
 public:
  MatrixSink(T* destination, std::int64_t stride, const SinkOptions& options)
      : destination_(destination), stride_(stride), options_(options) {}
  void store(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
             const float* sums, std::int64_t stride) const override;

 private:
  T* destination_;
  std::int64_t stride_;
  SinkOptions options_;
};

// destination[column, row]: the product is the transpose of what is wanted.
template <typename T>
class TransposedSink : public ProductSink {
 public:
  TransposedSink(T* destination, std::int64_t stride, const SinkOptions& options)
      : destination_(destination), stride_(stride), options_(options) {}
  void store(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
             const float* sums, std::int64_t stride) const override;

 private:
  T* destination_;
  std::int64_t stride_;
  SinkOptions options_;
};

// Row (n, a, b) of the product goes to the pixel (n, top + a * stride, left + b * stride) of NHWC
// images: one parity class of a backward-data convolution.
struct PixelGrid {
  std::int64_t image_h = 0, image_w = 0, channels = 0;
  std::int64_t grid_h = 0, grid_w = 0;
  std::int64_t stride = 1;
  std::int64_t top = 0, left = 0;
};

template <typename T>
class PixelSink : public ProductSink {
 public:
  PixelSink(T* images, const PixelGrid& grid, const SinkOptions& options)
      : images_(images), grid_(grid), options_(options) {}
  void store(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
             const float* sums, std::int64_t stride) const override;

 private:
  T* images_;
  PixelGrid grid_;
  SinkOptions options_;
};

}  // namespace acgan::gemm
