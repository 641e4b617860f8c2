#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/drawing.h"

namespace acgan {

// The bytes of one drawing in a file of many, and what messages call the place.
struct DrawingRecord {
  std::span<const std::uint8_t> bytes;
  std::uint64_t number = 0;  // line, or record: from 1 on
};

// A drawing with what the game thought of it.
struct ParsedDrawing {
  Drawing drawing;
  bool is_recognized = false;
  bool says_recognized = false;  // whether the record tells at all
};

// Larger records are refused; the largest real ones have some 100 KB.
inline constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{4} << 20;

}  // namespace acgan
