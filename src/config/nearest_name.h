#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace acgan {

// How many letters must be inserted, removed, replaced or swapped with their neighbour to turn `a`
// into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that `name` was most likely meant to be. Dotted names are also compared by their
// last part alone, so that a key in the wrong section is found. `candidates` must not be empty.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace acgan
