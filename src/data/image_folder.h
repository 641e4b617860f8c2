#pragma once

#include "config/config.h"
#include "data/dataset.h"

namespace acgan {

// A folder with one folder of PNG, JPEG or BMP images a class, of any size: the centred square of
// each is resized to image_size; config.channels of 1 gives grey, 0 and 3 RGB.
Dataset load_image_folder(const DataConfig& config);

}  // namespace acgan
