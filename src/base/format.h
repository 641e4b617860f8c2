#pragma once

// Text formatting for the whole project: fmt (C++20's std::format is not in GCC 12).
#include <fmt/format.h>
