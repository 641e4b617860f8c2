#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tensor/half.h"

namespace acgan::test {
namespace {

// A binary floating-point format, described by the numbers its definition gives.
struct Format {
  int mantissa_bits;
  int smallest_exponent;  // of normal values
  int largest_exponent;
};

constexpr Format kHalf{10, -14, 15};
constexpr Format kBFloat16{7, -126, 127};

// The value of a bit pattern.
double decode(std::uint16_t bits, const Format& format) {
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int biased = (bits & 0x7fff) >> format.mantissa_bits;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int exponent = biased + format.smallest_exponent - 1;
  if (exponent > format.largest_exponent) {
    return mantissa != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  }
  const int implicit = biased == 0 ? 0 : 1 << format.mantissa_bits;
  const int scale = biased == 0 ? format.smallest_exponent : exponent;
  return sign * std::ldexp(mantissa + implicit, scale - format.mantissa_bits);
}

// Rounds to the nearest value of the format, ties to even, in double precision: exact, because
// scaling by a power of two is, and nearbyint rounds ties to even.
double nearest(double value, const Format& format) {
  if (!std::isfinite(value) || value == 0.0) return value;
  const int exponent = std::max(std::ilogb(value), format.smallest_exponent);
  const int step = exponent - format.mantissa_bits;
  const double result = std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
  const double limit = std::ldexp(1.0, format.largest_exponent + 1);
  return std::abs(result) >= limit ? std::copysign(INFINITY, value) : result;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Visits floats of all signs and exponents: every value, midpoint and neighbours of a midpoint of
// both formats lies within this grid of upper bits and its surroundings.
template <typename Visitor>
void for_many_floats(const Visitor& visit) {
  for (std::uint32_t upper = 0; upper < 0x80000u; ++upper) {  // sign, exponent, 10 mantissa bits
    const std::uint32_t base = upper << 13;
    for (const std::uint32_t lower : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x1fffu}) {
      visit(std::bit_cast<float>(base | lower));
    }
  }
}

}  // namespace

TEST_CASE("every half widens to the value of its bits and back", "[ops][half]") {
  int wrong = 0;
  for (std::uint32_t pattern = 0; pattern <= 0xffffu; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const double expected = decode(bits, kHalf);
    if (!same(double{half_bits_to_float(bits)}, expected)) ++wrong;
    if (!same(double{to_float(Half{bits})}, expected)) ++wrong;
    if (std::isnan(expected)) continue;
    if (float_to_half_bits(static_cast<float>(expected)) != bits) ++wrong;
    if (from_float<Half>(static_cast<float>(expected)).bits != bits) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("every bfloat16 widens to the value of its bits and back", "[ops][half]") {
  int wrong = 0;
  for (std::uint32_t pattern = 0; pattern <= 0xffffu; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const double expected = decode(bits, kBFloat16);
    if (!same(double{to_float(BFloat16{bits})}, expected)) ++wrong;
    if (std::isnan(expected)) continue;
    if (from_float<BFloat16>(static_cast<float>(expected)).bits != bits) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("floats round to the nearest half, ties to even", "[ops][half]") {
  int wrong = 0;
  for_many_floats([&](float value) {
    const double expected = nearest(double{value}, kHalf);
    if (!same(decode(float_to_half_bits(value), kHalf), expected)) ++wrong;
  });
  CHECK(wrong == 0);
  CHECK(float_to_half_bits(65519.996f) == 0x7bff);  // the largest half
  CHECK(float_to_half_bits(65520.0f) == 0x7c00);    // infinity
  CHECK(float_to_half_bits(0x1p-25f) == 0x0000);    // half the smallest: to even
  CHECK(float_to_half_bits(0x1.000002p-25f) == 0x0001);
}

TEST_CASE("floats round to the nearest bfloat16, ties to even", "[ops][half]") {
  int wrong = 0;
  const auto check = [&](float value) {
    const double expected = nearest(double{value}, kBFloat16);
    if (!same(decode(float_to_bfloat16_bits(value), kBFloat16), expected)) ++wrong;
  };
  for_many_floats(check);
  for (std::uint32_t upper = 0; upper <= 0xffffu; ++upper) {  // neighbours of every midpoint
    for (const std::uint32_t lower : {0x7fffu, 0x8000u, 0x8001u}) {
      check(std::bit_cast<float>((upper << 16) | lower));
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the processor's half conversions equal the bit code", "[ops][half]") {
  int wrong = 0;
  for_many_floats([&](float value) {
    if (from_float<Half>(value).bits != float_to_half_bits(value)) ++wrong;  // NaN payloads too
  });
  CHECK(wrong == 0);
}

TEST_CASE("NaN stays NaN in both 16-bit types", "[ops][half]") {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0xff812345u, 0x7fffffffu}) {
    const auto value = std::bit_cast<float>(bits);
    CHECK(std::isnan(half_bits_to_float(float_to_half_bits(value))));
    CHECK(std::isnan(to_float(from_float<Half>(value))));
    CHECK(std::isnan(to_float(from_float<BFloat16>(value))));
  }
}

}  // namespace acgan::test
