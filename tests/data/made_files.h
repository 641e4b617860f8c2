#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/bytes.h"

namespace acgan::test {

// A .npy file: its header's text (a dictionary) padded as NumPy does, then `data`.
Bytes npy(std::string_view header, const Bytes& data, int version = 1);

// A header dictionary for C-ordered uint8.
std::string npy_dictionary(std::string_view shape);

// A .npz archive, as numpy.savez (Stored) or numpy.savez_compressed writes it: names without ".npy"
// and the .npy files.
enum class NpzPacking { Stored, Deflated };
Bytes npz(const std::vector<std::pair<std::string, Bytes>>& arrays,
          NpzPacking packing = NpzPacking::Deflated);

// A record of a binary file of strokes; a stroke is a list of points {x, y}.
using BinaryStroke = std::vector<std::pair<int, int>>;
Bytes binary_drawing(const std::vector<BinaryStroke>& strokes, int recognized = 1);

}  // namespace acgan::test
