#pragma once

#include "config/config.h"
#include "data/dataset.h"

namespace acgan {

// Google's "Quick, Draw!" bitmaps: a folder with one .npy file a class, uint8, shape (N,784),
// (N,H,H) or (N,H,H,1); grey, [N,H,W,1]. A class is named by its file: airplane.npy and
// full_numpy_bitmap_airplane.npy both hold airplanes. Only what is wanted is read.
Dataset load_quickdraw(const DataConfig& config);

}  // namespace acgan
