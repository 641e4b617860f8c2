#pragma once

#include <string>

#include "data/drawing_record.h"

namespace acgan {

class RecordWindow;

// The binary files of "Quick, Draw!", little-endian without padding: key u64, country 2 bytes,
// recognized 1 byte, time u32, strokes u16; for each stroke points u16, the x bytes, the y bytes.

// How many bytes the record at the window's beginning has. Throws Error{Data} naming file, record
// and byte where the file ends before it does.
std::uint64_t binary_record_length(RecordWindow& window, std::uint64_t number);

// Reads one record of that length.
ParsedDrawing parse_binary_drawing(const std::string& path, const DrawingRecord& record);

}  // namespace acgan
