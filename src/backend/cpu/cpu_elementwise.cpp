#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "backend/cpu/column_sums.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/vector_activation.h"

namespace acgan {
namespace {

// Copying is split where it does not fit the caches of one core.
constexpr std::int64_t kCopyPiece = 1 << 18;

// Calls body(offset, bytes) for the pieces of an array of `bytes` bytes.
template <typename Body>
void for_each_byte_range(int threads, std::int64_t bytes, const Body& body) {
  cpu::for_each_task(threads, (bytes + kCopyPiece - 1) / kCopyPiece, bytes, [&](std::int64_t k) {
    const std::int64_t offset = k * kCopyPiece;
    body(offset, static_cast<std::size_t>(std::min(kCopyPiece, bytes - offset)));
  });
}

template <typename From, typename To>
void cast_values(int threads, const From* source, To* destination, std::int64_t count) {
  cpu::for_each_vector(threads, count, [=](std::int64_t i, auto lanes) {
    cpu::store(destination + i, cpu::load(source + i, lanes), lanes);
  });
}

template <typename T>
void sum_rows(int threads, const T* dy, std::int64_t rows, std::int64_t channels, float* db,
              Accumulation accumulation) {
  // Rows of a few channels would leave most lanes empty. As many of them as make whole vectors
  // count as one row; the sums of its parts are added at the end, and the rows left over too.
  const std::int64_t fold =
      channels < 4 * cpu::kLanes ? 4 * cpu::kLanes / std::gcd(channels, 4 * cpu::kLanes) : 1;
  const std::int64_t width = channels * fold;
  const std::int64_t folded = rows / fold;

  const cpu::Tiling tiling(folded, width);
  cpu::ColumnSums<1> sums(tiling);
  tiling.for_each_tile(threads, [&](const cpu::Tile& tile) {
    sums.add_tile(tile, [=](std::int64_t row, std::int64_t column, auto lanes, auto& partial) {
      partial[0] += cpu::load(dy + row * width + column, lanes);
    });
  });
  for (std::int64_t c = 0; c < channels; ++c) {
    double total = 0.0;
    for (std::int64_t part = 0; part < fold; ++part) total += sums.total(0, part * channels + c);
    for (std::int64_t row = folded * fold; row < rows; ++row) {
      total += to_float(dy[row * channels + c]);
    }
    if (accumulation == Accumulation::Add) total += db[c];
    db[c] = static_cast<float>(total);
  }
}

template <typename T>
std::array<T, 256> values_of_bytes(float divisor) {
  std::array<T, 256> values;
  for (int byte = 0; byte < 256; ++byte) {
    values[static_cast<std::size_t>(byte)] = from_float<T>(static_cast<float>(byte) / divisor);
  }
  return values;
}

}  // namespace

void CpuBackend::copy(const Tensor& source, const Tensor& destination) {
  ACGAN_CHECK(source.shape == destination.shape && source.dtype == destination.dtype);
  const auto* from = static_cast<const std::byte*>(source.data);
  auto* to = static_cast<std::byte*>(destination.data);
  for_each_byte_range(threads(), static_cast<std::int64_t>(source.bytes()),
                      [=](std::int64_t offset, std::size_t bytes) {
                        std::memcpy(to + offset, from + offset, bytes);
                      });
}

void CpuBackend::zero(const Tensor& destination) {
  auto* to = static_cast<std::byte*>(destination.data);
  for_each_byte_range(
      threads(), static_cast<std::int64_t>(destination.bytes()),
      [=](std::int64_t offset, std::size_t bytes) { std::memset(to + offset, 0, bytes); });
}

void CpuBackend::cast(const Tensor& source, const Tensor& destination) {
  ACGAN_CHECK(source.shape == destination.shape);
  visit_dtype(source.dtype, [&]<typename From>(From) {
    visit_dtype(destination.dtype, [&]<typename To>(To) {
      cast_values(threads(), source.as<From>(), destination.as<To>(), source.count());
    });
  });
}

void CpuBackend::bias_backward(const Tensor& dy, const Tensor& db, Accumulation accumulation) {
  ACGAN_CHECK(dy.shape.rank() >= 1 && db.shape == Shape{dy.shape.back()});
  if (db.count() == 0) return;
  visit_dtype(dy.dtype, [&]<typename T>(T) {
    sum_rows(threads(), dy.as<T>(), dy.count() / db.count(), db.count(), db.as<float>(),
             accumulation);
  });
}

void CpuBackend::activation_forward(const Tensor& x, Activation activation, const Tensor& y) {
  ACGAN_CHECK(x.shape == y.shape && x.dtype == y.dtype);
  visit_dtype(x.dtype, [&]<typename T>(T) {
    const T* input = x.as<T>();
    T* output = y.as<T>();
    cpu::visit_activation(activation, [&](auto kind) {
      cpu::for_each_vector(threads(), x.count(), [=](std::int64_t i, auto lanes) {
        cpu::store(output + i, cpu::activate<kind()>(cpu::load(input + i, lanes)), lanes);
      });
    });
  });
}

void CpuBackend::activation_backward(const Tensor& y, const Tensor& dy, Activation activation,
                                     const Tensor& dx) {
  ACGAN_CHECK(y.shape == dy.shape && y.shape == dx.shape);
  visit_dtype(y.dtype, [&]<typename T>(T) {
    const T* output = y.as<T>();
    const T* gradient = dy.as<T>();
    T* result = dx.as<T>();
    cpu::visit_activation(activation, [&](auto kind) {
      cpu::for_each_vector(threads(), y.count(), [=](std::int64_t i, auto lanes) {
        const cpu::Float8 value = cpu::activation_gradient<kind()>(cpu::load(output + i, lanes),
                                                                   cpu::load(gradient + i, lanes));
        cpu::store(result + i, value, lanes);
      });
    });
  });
}

void CpuBackend::sigmoid_forward(const Tensor& x, const Tensor& y) {
  ACGAN_CHECK(x.shape == y.shape);
  visit_dtype(x.dtype, [&]<typename T>(T) {
    const T* input = x.as<T>();
    T* output = y.as<T>();
    cpu::for_each_piece(threads(), x.count(), [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        output[i] = from_float<T>(1.0f / (1.0f + std::exp(-to_float(input[i]))));
      }
    });
  });
}

void CpuBackend::sigmoid_backward(const Tensor& y, const Tensor& dy, const Tensor& dx) {
  ACGAN_CHECK(y.shape == dy.shape && y.shape == dx.shape);
  visit_dtype(y.dtype, [&]<typename T>(T) {
    const T* output = y.as<T>();
    const T* gradient = dy.as<T>();
    T* result = dx.as<T>();
    cpu::for_each_vector(threads(), y.count(), [=](std::int64_t i, auto lanes) {
      const cpu::Float8 s = cpu::load(output + i, lanes);
      cpu::store(result + i, cpu::load(gradient + i, lanes) * (s * (1.0f - s)), lanes);
    });
  });
}

void CpuBackend::add(const Tensor& a, const Tensor& b, const Tensor& y) {
  ACGAN_CHECK(a.shape == b.shape && a.shape == y.shape);
  ACGAN_CHECK(a.dtype == b.dtype && a.dtype == y.dtype);
  visit_dtype(a.dtype, [&]<typename T>(T) {
    const T* first = a.as<T>();
    const T* second = b.as<T>();
    T* sum = y.as<T>();
    cpu::for_each_vector(threads(), a.count(), [=](std::int64_t i, auto lanes) {
      cpu::store(sum + i, cpu::load(first + i, lanes) + cpu::load(second + i, lanes), lanes);
    });
  });
}

void CpuBackend::gather_images(const Tensor& images, const Tensor& indices, float divisor,
                               const Tensor& destination) {
  ACGAN_CHECK(indices.count() == destination.rows() && images.shape.rank() == 4);
  ACGAN_CHECK(destination.shape ==
              (Shape{indices.count(), images.shape[1], images.shape[2], images.shape[3]}));
  const auto* index = indices.as<std::int32_t>();
  const auto* bytes = images.as<std::uint8_t>();
  const std::int64_t count = indices.count();
  const std::int64_t size = images.row_size();
  for (std::int64_t n = 0; n < count; ++n) {
    ACGAN_CHECK(index[n] >= 0 && index[n] < images.rows());
  }
  visit_dtype(destination.dtype, [&]<typename T>(T) {
    const std::array<T, 256> values = values_of_bytes<T>(divisor);
    T* result = destination.as<T>();
    cpu::for_each_task(threads(), count, count * size, [&](std::int64_t n) {
      const std::uint8_t* image = bytes + index[n] * size;
      for (std::int64_t i = 0; i < size; ++i) result[n * size + i] = values[image[i]];
    });
  });
}

}  // namespace acgan
