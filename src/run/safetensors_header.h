#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/checkpoint.h"

namespace acgan {

// The JSON header of a safetensors file.
struct SafetensorsHeader {
  struct Entry {
    std::string name;
    Checkpoint::Type type = Checkpoint::Type::F32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  // bytes, from the end of the header
  };
  std::vector<Entry> arrays;                 // in the order of their bytes, without gaps
  std::map<std::string, std::string> texts;  // __metadata__
};

// Padded with blanks, so that the data after header and its length begin at a multiple of 8.
std::string format_header(const SafetensorsHeader& header);

// Checks syntax, names, types, and that the arrays fill the `data_bytes` after the header without
// gap or overlap. Throws Error{Output} naming `path` and the fault.
SafetensorsHeader parse_header(const std::string& text, std::uint64_t data_bytes,
                               const std::string& path);

// Throws the Error{Output} of a file that is damaged.
[[noreturn]] void reject_checkpoint(const std::string& path, const std::string& fault);

// "F32", "BF16", ...
const char* name_of(Checkpoint::Type type);

// Bytes of an array; none where an extent is negative or the product overflows.
std::optional<std::uint64_t> byte_count(Checkpoint::Type type,
                                        const std::vector<std::int64_t>& shape);

// `text` with bytes that are no UTF-8, which JSON cannot hold, replaced by U+FFFD.
std::string make_utf8(const std::string& text);

}  // namespace acgan
