#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cpu/gemm_packing.h"
#include "backend/cpu/gemm_sink.h"

namespace acgan {

// result[rows, columns] = left[rows, depth] right[depth, columns], operands as their sources read
// them.
struct Product {
  std::int64_t rows = 0, columns = 0, depth = 0;
  gemm::Operand left, right;

  // The result goes through `sink` or, where it is an F32 matrix and takes the sums as they are,
  // without a detour to `output` [rows, columns].
  const gemm::ProductSink* sink = nullptr;
  float* output = nullptr;
  Accumulation accumulation = Accumulation::Overwrite;  // of `output`
};

// Memory that grows as needed, aligned to a cache line; its contents do not survive growth.
class ScratchMemory {
 public:
  float* floats(std::int64_t count);
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(float); }

 private:
  struct Free {
    void operator()(float* memory) const;
  };
  std::unique_ptr<float, Free> memory_;
  std::int64_t count_ = 0;
};

// The blocked matrix product behind all convolutions and dense layers, with its working memory.
// One call at a time. Sums are float, in an order that depends on the shape alone: the same bits
// for every number of threads.
class PackedGemm {
 public:
  void multiply(const Product& product, int threads);
  std::size_t workspace_bytes() const;

 private:
  void multiply_blocks(const Product& product, int threads);
  void multiply_split_depth(const Product& product, int threads);

  ScratchMemory shared_;
  std::vector<ScratchMemory> private_;  // one a thread
};

}  // namespace acgan
