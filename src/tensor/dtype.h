#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "tensor/half.h"

namespace acgan {

enum class DType { F32, F16, BF16, U8, I32 };

inline std::size_t size_of(DType type) {
  switch (type) {
    case DType::F32:
      return 4;
    case DType::F16:
      return 2;
    case DType::BF16:
      return 2;
    case DType::U8:
      return 1;
    case DType::I32:
      return 4;
  }
  ACGAN_CHECK(!"known dtype");
}

inline std::string_view name_of(DType type) {
  switch (type) {
    case DType::F32:
      return "fp32";
    case DType::F16:
      return "fp16";
    case DType::BF16:
      return "bf16";
    case DType::U8:
      return "u8";
    case DType::I32:
      return "i32";
  }
  ACGAN_CHECK(!"known dtype");
}

// Calls `visitor` with a value of the storage type of a floating-point dtype:
// visit_dtype(t.dtype, [&]<typename T>(T) { ... }).
template <typename Visitor>
decltype(auto) visit_dtype(DType type, Visitor&& visitor) {
  switch (type) {
    case DType::F32:
      return visitor(float{});
    case DType::F16:
      return visitor(Half{});
    case DType::BF16:
      return visitor(BFloat16{});
    default:
      ACGAN_CHECK(!"floating-point dtype");
  }
}

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::F16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::BF16;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::U8;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::I32;
};

}  // namespace acgan
