#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"

namespace acgan {

// The image files of a folder with one folder a class.
struct ImageList {
  std::vector<std::string> class_names;  // by label
  std::vector<std::string> paths;        // class by class
  std::vector<std::int32_t> labels;      // of each path
  std::size_t ignored = 0;               // other files
};

// Images are told by their names' endings (PNG, JPEG, BMP); those in deeper folders belong to the
// class whose folder they are in, behind those that lie directly in it. Throws Error{Data} where
// there are no classes, a class without images, or links in a circle.
ImageList list_images(const DataConfig& config);

}  // namespace acgan
