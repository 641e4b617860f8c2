#pragma once

#include "config/config.h"
#include "data/dataset.h"

namespace acgan {

// Google's "Quick, Draw!" drawings: a folder with one file a class, in any of these formats.
//   .npy, .npz      images: uint8, (N,784), (N,H,W) or (N,H,W,C); another size is resized
//   .ndjson, .bin   strokes, simplified or raw, drawn at the size that is wanted
// A class is named by its file: airplane.npy and full_numpy_bitmap_airplane.npy both hold
// airplanes. Grey, [N,H,W,1], unless a file has colour. Only what is wanted is read.
Dataset load_quickdraw(const DataConfig& config);

}  // namespace acgan
