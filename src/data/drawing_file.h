#pragma once

#include <memory>
#include <string>

#include "data/class_images.h"

namespace acgan {

enum class DrawingFormat { Ndjson, Binary };

// A file of strokes, which are drawn in grey at the size that is wanted. It is read a batch of
// drawings at a time, no further than the limit asks, and batches are drawn on all threads.
std::unique_ptr<ClassImages> open_drawing_file(const std::string& path, DrawingFormat format);

}  // namespace acgan
