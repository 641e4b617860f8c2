#include "support/guarded_tensor.h"

#include <algorithm>
#include <cstring>

namespace acgan::test {
namespace {

constexpr std::size_t kGuardBytes = 256;
constexpr std::byte kFill{0xff};

template <typename Visitor>
void visit_any_dtype(DType dtype, const Visitor& visit) {
  if (dtype == DType::U8) return visit(std::uint8_t{});
  if (dtype == DType::I32) return visit(std::int32_t{});
  visit_dtype(dtype, visit);
}

template <typename T>
T from_double(double value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value);
  } else {
    return from_float<T>(static_cast<float>(value));
  }
}

template <typename T>
double to_double(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    return to_float(value);
  }
}

Tensor whole_buffer(const Buffer& buffer) {
  return {buffer.data(), {static_cast<std::int64_t>(buffer.bytes())}, DType::U8};
}

}  // namespace

std::vector<std::byte> encode(const std::vector<double>& values, DType dtype) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  visit_any_dtype(dtype, [&]<typename T>(T) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T stored = from_double<T>(values[i]);
      std::memcpy(&bytes[i * sizeof(T)], &stored, sizeof(T));
    }
  });
  return bytes;
}

std::vector<double> decode(const std::vector<std::byte>& bytes, DType dtype) {
  std::vector<double> values(bytes.size() / size_of(dtype));
  visit_any_dtype(dtype, [&]<typename T>(T) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      T stored;
      std::memcpy(&stored, &bytes[i * sizeof(T)], sizeof(T));
      values[i] = to_double(stored);
    }
  });
  return values;
}

std::vector<double> rounded(const std::vector<double>& values, DType dtype) {
  return decode(encode(values, dtype), dtype);
}

GuardedTensor::GuardedTensor(Backend& backend, const Shape& shape, DType dtype, Placement placement)
    : backend_(&backend),
      offset_(kGuardBytes + (placement == Placement::OffByOne ? size_of(dtype) : 0)),
      buffer_(backend, offset_ + Tensor{nullptr, shape, dtype}.bytes() + kGuardBytes),
      view_{static_cast<std::byte*>(buffer_.data()) + offset_, shape, dtype} {
  const std::vector<std::byte> fill(buffer_.bytes(), kFill);
  backend.upload(whole_buffer(buffer_), fill.data());
}

void GuardedTensor::write(const std::vector<double>& values) {
  ACGAN_CHECK(static_cast<std::int64_t>(values.size()) == view_.count());
  backend_->upload(view_, encode(values, view_.dtype).data());
}

std::vector<std::byte> GuardedTensor::read_buffer() const {
  std::vector<std::byte> bytes(buffer_.bytes());
  backend_->download(bytes.data(), whole_buffer(buffer_));
  return bytes;
}

std::vector<std::byte> GuardedTensor::read_bytes() const {
  const std::vector<std::byte> bytes = read_buffer();
  return {bytes.data() + offset_, bytes.data() + offset_ + view_.bytes()};
}

std::vector<double> GuardedTensor::read() const { return decode(read_bytes(), view_.dtype); }

bool GuardedTensor::guards_intact() const {
  const std::vector<std::byte> bytes = read_buffer();
  const auto is_fill = [](std::byte b) { return b == kFill; };
  return std::all_of(bytes.data(), bytes.data() + offset_, is_fill) &&
         std::all_of(bytes.data() + offset_ + view_.bytes(), bytes.data() + bytes.size(), is_fill);
}

}  // namespace acgan::test
