#pragma once

#include <memory>
#include <string>

#include "data/class_images.h"

namespace acgan {

// A .npy file of images. It is read where it lies, block by block.
std::unique_ptr<ClassImages> open_npy_file(const std::string& path);

// The images in a .npz archive: the only array in it that holds images, or among several the one
// named "train".
std::unique_ptr<ClassImages> open_npz_file(const std::string& path);

}  // namespace acgan
