#pragma once

#include "config/config.h"
#include "data/dataset.h"

namespace acgan {

// A folder with one folder of PNG, JPEG or BMP images a class, of any size, also in folders below
// it: the centred square of each is resized to image_size; config.channels of 1 gives grey, 0 and 3
// RGB. Images that cannot be read are an Error{Data} that names the first ten, or are left out
// (config.skip_unreadable). With config.cache decoded images are kept for the next start.
Dataset load_image_folder(const DataConfig& config);

}  // namespace acgan
