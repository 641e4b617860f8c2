#pragma once

#include <array>
#include <string_view>

#include "data/doodle_pen.h"

namespace acgan {

// One class of the built-in set: its name and how it is drawn.
struct DoodleClass {
  std::string_view name;
  void (*draw)(Pen& pen);
};

// Sorted by name.
extern const std::array<DoodleClass, 10> kDoodleClasses;

}  // namespace acgan
