#pragma once

#include <string>

namespace acgan {

// One line for each device: what it is or why it is not there.
std::string list_devices();

}  // namespace acgan
