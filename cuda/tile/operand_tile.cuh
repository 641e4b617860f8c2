#pragma once

#include <cstdint>

#include "cuda/tile/mma.cuh"

namespace acgan::cuda {

// How an operand's elements are fetched: eight neighbours at once (channels in multiples of eight,
// 16-byte alignment), or one by one (anything).
enum class Access { Vector, Element };

// One operand's part of a pipeline stage in shared memory: kOuter x kDepth elements of 16 bits, in
// lines along the direction in which the operand is contiguous in memory. Chunks of eight elements
// (16 bytes) are XOR-swizzled, so that the eight rows of an ldmatrix lie in eight bank groups.
template <typename Operand, int kOuter, int kDepth, int kThreads, Access kAccess>
class OperandTile {
 public:
  using T = typename Operand::Element;
  static constexpr bool kDepthContiguous = Operand::kDepthContiguous;
  static constexpr int kLines = kDepthContiguous ? kOuter : kDepth;
  static constexpr int kChunks = (kDepthContiguous ? kDepth : kOuter) / 8;  // of a line
  static constexpr int kElements = kOuter * kDepth;
  static_assert((kChunks & (kChunks - 1)) == 0 && kThreads % kChunks == 0);

  __device__ __forceinline__ OperandTile(const Operand& operand, int outer0)
      : operand_(operand), outer0_(outer0) {
    const int thread = static_cast<int>(threadIdx.x);
    chunk_ = thread % kChunks;
    first_line_ = thread / kChunks;
    if constexpr (kDepthContiguous) {
#pragma unroll
      for (int i = 0; i < kSlots; ++i) lines_[i] = operand.line(outer0 + line_of(i));
    } else if constexpr (kAccess == Access::Vector) {
      lines_[0] = operand.line(outer0 + chunk_ * 8);
    }
  }

  // Starts fetching depths [depth0, depth0 + kDepth) into `stage`; without asynchronous copies the
  // data waits in registers until deposit().
  __device__ __forceinline__ void fetch(T* stage, int depth0) {
    if constexpr (kAccess == Access::Vector) {
      if constexpr (kDepthContiguous) {
        const auto step = operand_.step(depth0 + chunk_ * 8);
#pragma unroll
        for (int i = 0; i < kSlots; ++i) fetch_vector(stage, i, operand_.at(lines_[i], step));
      } else {
#pragma unroll
        for (int i = 0; i < kSlots; ++i) {
          fetch_vector(stage, i, operand_.at(lines_[0], operand_.step(depth0 + line_of(i))));
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < kSlots; ++i) held_[i] = gather(i, depth0);
    }
  }

  // Stores what fetch() left in registers.
  __device__ __forceinline__ void deposit(T* stage) {
    if (kAccess == Access::Element || !has_async_copy()) {
#pragma unroll
      for (int i = 0; i < kSlots; ++i) {
        if (is_mine(i)) *reinterpret_cast<uint4*>(stage + offset(line_of(i), chunk_)) = held_[i];
      }
    }
  }

  // Element offset of a chunk in a stage.
  __device__ __forceinline__ static int offset(int line, int chunk) {
    constexpr int kLinesPerPass = kChunks < 8 ? 8 / kChunks : 1;  // lines in 128 bytes
    constexpr int kMask = (kChunks < 8 ? kChunks : 8) - 1;
    return (line * kChunks + (chunk ^ (line / kLinesPerPass & kMask))) * 8;
  }

  // As ldmatrix fragments of mma_m16n8k16, for the 16 outer indices from `outer` and 16 depths from
  // `depth`. A: one 16x16 fragment. B: two 16x8 ones, registers 0,1 and 2,3.
  __device__ __forceinline__ static void load_a(std::uint32_t (&fragment)[4], const T* stage,
                                                int outer, int depth, int lane) {
    if constexpr (kDepthContiguous) {
      ldmatrix_x4(fragment, stage + offset(outer + lane % 16, depth / 8 + lane / 16));
    } else {
      ldmatrix_x4_transposed(
          fragment, stage + offset(depth + lane / 16 * 8 + lane % 8, outer / 8 + lane / 8 % 2));
    }
  }
  __device__ __forceinline__ static void load_b(std::uint32_t (&fragment)[4], const T* stage,
                                                int outer, int depth, int lane) {
    if constexpr (kDepthContiguous) {
      ldmatrix_x4(fragment,
                  stage + offset(outer + lane / 16 * 8 + lane % 8, depth / 8 + lane / 8 % 2));
    } else {
      ldmatrix_x4_transposed(
          fragment, stage + offset(depth + lane / 8 % 2 * 8 + lane % 8, outer / 8 + lane / 16));
    }
  }

 private:
  static constexpr int kLinesPerSlot = kThreads / kChunks;
  static constexpr int kSlots = (kLines + kLinesPerSlot - 1) / kLinesPerSlot;

  __device__ __forceinline__ int line_of(int slot) const {
    return first_line_ + slot * kLinesPerSlot;
  }
  __device__ __forceinline__ bool is_mine(int slot) const {
    return kLines % kLinesPerSlot == 0 || line_of(slot) < kLines;
  }

  __device__ __forceinline__ void fetch_vector(T* stage, int slot, const T* source) {
    if (!is_mine(slot)) return;
    if (has_async_copy()) {
      // A copy that is not valid reads nothing, yet its address must be one.
      async_copy16(stage + offset(line_of(slot), chunk_),
                   source != nullptr ? source : operand_.base(), source != nullptr);
    } else {
      held_[slot] =
          source != nullptr ? *reinterpret_cast<const uint4*>(source) : make_uint4(0, 0, 0, 0);
    }
  }

  __device__ __forceinline__ unsigned element(int slot, int depth0, int e) const {
    const T* source = nullptr;
    if constexpr (kDepthContiguous) {
      source = operand_.at(lines_[slot], operand_.step(depth0 + chunk_ * 8 + e));
    } else {
      source = operand_.at(operand_.line(outer0_ + chunk_ * 8 + e),
                           operand_.step(depth0 + line_of(slot)));
    }
    return source != nullptr ? source->bits : 0u;
  }

  __device__ __forceinline__ uint4 gather(int slot, int depth0) const {
    if (!is_mine(slot)) return make_uint4(0, 0, 0, 0);
    unsigned word[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      word[i] = element(slot, depth0, 2 * i) | element(slot, depth0, 2 * i + 1) << 16;
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
  }

  const Operand& operand_;
  int outer0_, chunk_, first_line_;
  typename Operand::Line lines_[kDepthContiguous ? kSlots : 1];
  uint4 held_[kSlots];
};

}  // namespace acgan::cuda
