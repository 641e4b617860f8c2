#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#include <immintrin.h>
#endif
#if !defined(__AVX__)
// The compiler splits the vectors; everything here is inlined, so the calling convention that it
// warns of is never used.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

// The vectors that the matrix product computes with: the widest that the binary may use. The
// product's only file that knows about instruction sets.
namespace acgan::gemm {

#if defined(__AVX512F__)
inline constexpr int kWidth = 16;     // floats in a vector
inline constexpr int kTileRows = 14;  // times 2 vectors: 28 of 32 registers accumulate
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr int kWidth = 8;
inline constexpr int kTileRows = 6;  // 12 of 16
#else
inline constexpr int kWidth = 8;     // two registers each
inline constexpr int kTileRows = 3;  // 12 of 16
#endif
inline constexpr int kTileColumns = 2 * kWidth;

using Vector = float __attribute__((vector_size(4 * kWidth)));
using LaneIndex = std::int32_t __attribute__((vector_size(4 * kWidth)));

inline Vector load(const float* source) {
  Vector value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

inline void store(float* destination, Vector value) {
  std::memcpy(destination, &value, sizeof value);
}

#if defined(__AVX512F__)
inline Vector broadcast(float value) { return _mm512_set1_ps(value); }
inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
#elif defined(__AVX2__) && defined(__FMA__)
inline Vector broadcast(float value) { return _mm256_set1_ps(value); }
inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
#else
inline Vector broadcast(float value) { return value - Vector{}; }
inline Vector multiply_add(Vector a, Vector b, Vector c) { return a * b + c; }
#endif

// One step of the transpose: within blocks of 2 Step x 2 Step, exchanges the two off the diagonal.
template <int Step>
inline void exchange_blocks(Vector* rows) {
  LaneIndex upper_lanes{}, lower_lanes{};
  for (int lane = 0; lane < kWidth; ++lane) {
    const bool left = (lane & Step) == 0;
    upper_lanes[lane] = left ? lane : kWidth + lane - Step;
    lower_lanes[lane] = left ? lane + Step : kWidth + lane;
  }
#pragma GCC unroll 16
  for (int row = 0; row < kWidth; ++row) {
    if ((row & Step) != 0) continue;
    const Vector upper = rows[row];
    const Vector lower = rows[row + Step];
    rows[row] = __builtin_shuffle(upper, lower, upper_lanes);
    rows[row + Step] = __builtin_shuffle(upper, lower, lower_lanes);
  }
}

// rows[i][j] <-> rows[j][i] of kWidth x kWidth floats, in registers.
inline void transpose(Vector* rows) {
  exchange_blocks<1>(rows);
  exchange_blocks<2>(rows);
  exchange_blocks<4>(rows);
  if constexpr (kWidth > 8) exchange_blocks<8>(rows);
}

}  // namespace acgan::gemm
