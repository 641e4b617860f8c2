#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/npy_header.h"

namespace acgan {

// An array in a .npz archive, which is a zip of .npy files, stored or deflated.
struct NpzMember {
  std::string name;        // without ".npy"; control characters replaced by '?'
  std::string entry;       // with it
  std::uint64_t size = 0;  // bytes of its .npy file, as the archive says
  NpyHeader header;
};

// The arrays of an archive in its order. Nothing is written anywhere: names are names only. Throws
// Error{Data} where the file is no such archive or is damaged.
std::vector<NpzMember> list_npz(const std::string& path);

// The first `bytes` bytes of a member's .npy file; where that is all of it, its check sum is
// compared. Memory is taken as data comes, so that what an archive claims costs nothing.
std::vector<std::uint8_t> read_npz_member(const std::string& path, const NpzMember& member,
                                          std::uint64_t bytes);

}  // namespace acgan
