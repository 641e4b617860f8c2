#pragma once

#include <cstdint>

namespace acgan::cuda {

// Blocks of work that the tensor-core kernels come in, rows x columns of the product.
enum class TileShape {
  k128x128,  // most arithmetic for each byte read: 64 multiply-adds a 16-bit element
  k128x64,   // 64 columns or fewer
  k64x64,    // small products: more blocks for the same work
  k64x16,    // weight gradients of one input channel: 16 columns
};

struct TileChoice {
  TileShape shape = TileShape::k64x64;
  bool vector = false;          // 16-byte access to every operand; else element by element
  bool vector_a = false;        // backward weight only: 16-byte access to dy alone
  bool vector_filters = false;  // forward only: 16-byte access to w and y alone
  int arch = 80;                // compute capability, major * 10 + minor
};

}  // namespace acgan::cuda
