#pragma once

#include <string>

#include "data/drawing_record.h"

namespace acgan {

// Reads a line of a simplified or raw .ndjson file of "Quick, Draw!": a JSON object of which
// "drawing" (strokes [[x...],[y...]], raw ones [[x...],[y...],[t...]]) and "recognized" are used.
// Throws Error{Data} naming `path` and the line.
ParsedDrawing parse_ndjson_drawing(const std::string& path, const DrawingRecord& line);

}  // namespace acgan
