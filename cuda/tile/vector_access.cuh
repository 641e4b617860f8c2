#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "cuda/tile/elementwise.cuh"
#include "cuda/tile/numeric.cuh"

// Several neighbouring elements in one memory access, widened to float. Tensors are only known to
// be aligned to one element: a launcher asks vectors_allowed() and falls back to width 1.
namespace acgan::cuda {

inline constexpr int kVectorBytes = 16;  // the widest access that every GPU has

template <int kValue>
using Constant = std::integral_constant<int, kValue>;

template <typename... T>  // elements a thread takes at once so that the narrowest type fills one
inline constexpr int kVectorWidth = kVectorBytes / static_cast<int>(std::min({sizeof(T)...}));

template <int kWidth, typename T>
inline constexpr std::size_t kVectorAlignment = std::min<std::size_t>(kVectorBytes,
                                                                      kWidth * sizeof(T));

template <int kWidth, typename... T>
bool vectors_allowed(const T*... data) {
  return ((reinterpret_cast<std::uintptr_t>(data) % kVectorAlignment<kWidth, T> == 0) && ...);
}

// Memory is read and written in whole words, and written by intrinsic: the compiler splits a struct
// of small items, and at times even a uint4.
template <std::size_t kBytes>
using Word = std::conditional_t<
    kBytes % 16 == 0, uint4,
    std::conditional_t<
        kBytes == 8, uint2,
        std::conditional_t<kBytes == 4, std::uint32_t,
                           std::conditional_t<kBytes == 2, std::uint16_t, std::uint8_t>>>>;

template <int kWidth, typename T>
struct Words {
  using Type = Word<kWidth * sizeof(T)>;
  static constexpr int kCount = static_cast<int>(kWidth * sizeof(T) / sizeof(Type));
  Type word[kCount];
};

template <int kWidth, typename T>
struct Items {
  T item[kWidth];
};

template <typename T>
__device__ __forceinline__ float as_float(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<float>(value);
  } else {
    return widen(value);
  }
}

template <typename T, int kWidth>
__device__ __forceinline__ void load(const T* source, float (&value)[kWidth]) {
  using Whole = Words<kWidth, T>;
  Whole words;
#pragma unroll
  for (int i = 0; i < Whole::kCount; ++i) {
    words.word[i] = reinterpret_cast<const typename Whole::Type*>(source)[i];
  }
  const auto items = std::bit_cast<Items<kWidth, T>>(words);
#pragma unroll
  for (int v = 0; v < kWidth; ++v) value[v] = as_float(items.item[v]);
}

template <typename T, int kWidth>
__device__ __forceinline__ void store(T* destination, const float (&value)[kWidth]) {
  using Whole = Words<kWidth, T>;
  Items<kWidth, T> items;
#pragma unroll
  for (int v = 0; v < kWidth; ++v) items.item[v] = narrow<T>(value[v]);
  const auto words = std::bit_cast<Whole>(items);
#pragma unroll
  for (int i = 0; i < Whole::kCount; ++i) {
    __stwb(reinterpret_cast<typename Whole::Type*>(destination) + i, words.word[i]);
  }
}

// body(i, Constant<n>): elements [i, i + n) are this thread's; n is kWidth, or 1 at the end.
template <int kWidth, typename Body>
__device__ __forceinline__ void for_own_elements(std::int64_t count, const Body& body) {
  const std::int64_t begin = global_index() * kWidth;
  if (begin + kWidth <= count) {
    body(begin, Constant<kWidth>{});
  } else if constexpr (kWidth > 1) {
    for (std::int64_t i = begin; i < count; ++i) body(i, Constant<1>{});
  }
}

}  // namespace acgan::cuda
