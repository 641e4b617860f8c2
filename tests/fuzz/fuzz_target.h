#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace acgan::fuzz {

using Bytes = std::vector<std::uint8_t>;

// One input of the fuzzer, as bytes and as a file that holds them.
struct Input {
  std::string path;  // of a file in memory: nothing is written to the disk
  std::span<const std::uint8_t> bytes;
};

// Each fuzz target defines these two.

// Reads one input. An Error of kind Data is what bad input deserves; anything else that is thrown,
// and anything that a sanitizer sees, is a fault.
void read_input(const Input& input);

// Small valid files, from which the fuzzer makes its own.
std::vector<Bytes> valid_inputs();

}  // namespace acgan::fuzz
