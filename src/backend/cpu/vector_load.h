#pragma once

#include <cstdint>
#include <cstring>

#include "tensor/half.h"

#if defined(__AVX__)
#include <immintrin.h>
#else
#include <cmath>
// Without AVX the compiler splits the vectors below; everything here is inlined, so the calling
// convention that it warns of is never used.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

// Eight numbers at a time, whatever they are stored as: load() widens F32, F16 and BF16 to float,
// store() rounds to nearest even, the same bits as from_float. The vectors are GCC's, so arithmetic
// on them is written with operators and conditions with ?: and works on every processor.
namespace acgan::cpu {

// What the compiler may use, for the start-up log.
#if defined(__AVX512F__)
inline constexpr const char* kInstructionSet = "AVX-512";
#elif defined(__AVX2__)
inline constexpr const char* kInstructionSet = "AVX2";
#elif defined(__AVX__)
inline constexpr const char* kInstructionSet = "AVX";
#else
inline constexpr const char* kInstructionSet = "no AVX";
#endif

inline constexpr std::int64_t kLanes = 8;

using Float8 = float __attribute__((vector_size(32)));
using Double4 = double __attribute__((vector_size(32)));
using UInt8 = std::uint32_t __attribute__((vector_size(32)));
using UShort8 = std::uint16_t __attribute__((vector_size(16)));

// How many of the eight lanes lie in memory: all, or the 1 to 7 at the end of an array. A type
// each, so that loops over whole vectors carry no test.
struct AllLanes {
  static constexpr std::int64_t count = kLanes;
};
struct SomeLanes {
  std::int64_t count;
};

inline Float8 broadcast(float value) { return Float8{} + value; }

inline Float8 load(const float* source, AllLanes) {
  Float8 value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

inline void store(float* destination, Float8 value, AllLanes) {
  std::memcpy(destination, &value, sizeof value);
}

inline Float8 load(const Half* source, AllLanes) {
#if defined(__F16C__) && defined(__AVX__)
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source)));
#else
  Float8 value;
  for (int lane = 0; lane < kLanes; ++lane) value[lane] = to_float(source[lane]);
  return value;
#endif
}

inline void store(Half* destination, Float8 value, AllLanes) {
#if defined(__F16C__) && defined(__AVX__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(destination),
                   _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
#else
  for (int lane = 0; lane < kLanes; ++lane) destination[lane] = from_float<Half>(value[lane]);
#endif
}

inline Float8 load(const BFloat16* source, AllLanes) {
  UShort8 bits;
  std::memcpy(&bits, source, sizeof bits);
#if defined(__AVX2__)
  const __m256i wide = _mm256_cvtepu16_epi32(reinterpret_cast<__m128i>(bits));
  return reinterpret_cast<Float8>(_mm256_slli_epi32(wide, 16));
#else
  return reinterpret_cast<Float8>(__builtin_convertvector(bits, UInt8) << 16);
#endif
}

inline void store(BFloat16* destination, Float8 value, AllLanes) {
  const UInt8 bits = reinterpret_cast<UInt8>(value);
  const UInt8 rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const UInt8 quiet = bits | 0x400000u;  // rounding could turn a NaN into infinity
  const UInt8 upper = (value != value ? quiet : rounded) >> 16;
#if defined(__AVX2__)
  const __m256i packed = _mm256_packus_epi32(reinterpret_cast<__m256i>(upper), __m256i{});
  const __m256i ordered = _mm256_permute4x64_epi64(packed, 0b1000);  // low quarter of each half
  _mm_storeu_si128(reinterpret_cast<__m128i*>(destination), _mm256_castsi256_si128(ordered));
#else
  const UShort8 stored = __builtin_convertvector(upper, UShort8);
  std::memcpy(static_cast<void*>(destination), &stored, sizeof stored);
#endif
}

// The lanes beyond the array read as zero and are not written.
template <typename T>
Float8 load(const T* source, SomeLanes lanes) {
  T padded[kLanes] = {};
  std::memcpy(padded, source, static_cast<std::size_t>(lanes.count) * sizeof(T));
  return load(padded, AllLanes{});
}

template <typename T>
void store(T* destination, Float8 value, SomeLanes lanes) {
  T padded[kLanes];
  store(padded, value, AllLanes{});
  std::memcpy(destination, padded, static_cast<std::size_t>(lanes.count) * sizeof(T));
}

inline Float8 square_root(Float8 value) {
#if defined(__AVX__)
  return _mm256_sqrt_ps(value);
#else
  for (int lane = 0; lane < kLanes; ++lane) value[lane] = std::sqrt(value[lane]);
  return value;
#endif
}

// Sums of eight lanes in double.
class DoubleSum {
 public:
  void add(Float8 value) {
    low_ += __builtin_convertvector(__builtin_shufflevector(value, value, 0, 1, 2, 3), Double4);
    high_ += __builtin_convertvector(__builtin_shufflevector(value, value, 4, 5, 6, 7), Double4);
  }
  double lane(std::int64_t k) const { return k < 4 ? low_[k] : high_[k - 4]; }

 private:
  Double4 low_ = {}, high_ = {};
};

// Calls body(index, lanes) for the vectors that cover [begin, end).
template <typename Body>
void for_each_vector(std::int64_t begin, std::int64_t end, const Body& body) {
  std::int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) body(i, AllLanes{});
  if (i < end) body(i, SomeLanes{end - i});
}

}  // namespace acgan::cpu
