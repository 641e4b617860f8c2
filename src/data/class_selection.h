#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace acgan {

// Which of the `found` classes a config wants, as indices into `found` in label order: those of
// data.classes in that order, or all of them. A class that was not found is an Error{Data} naming
// the nearest one; `where` says where was looked ("among the .npy files of PATH").
std::vector<std::size_t> select_classes(const DataConfig& config,
                                        const std::vector<std::string>& found,
                                        std::string_view where);

// At most `limit_per_class` of `available`; a limit of 0 means all.
std::int64_t limited(std::int64_t available, std::int64_t limit_per_class);

}  // namespace acgan
