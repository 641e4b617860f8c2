#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/bytes.h"

// Archives for tests and fuzz targets, made by hand, so that hostile ones can be made as well.
namespace acgan::test {

struct TarMember {
  std::string name;
  Bytes bytes;
  char type = '0';                  // '0' file, '1' hard link, '2' symbolic link, '5' folder
  std::string link = "";            // where a link leads
  std::uint64_t claimed_bytes = 0;  // where not 0: what the header says instead of the true size
};

// A ustar archive.
Bytes tar(const std::vector<TarMember>& members);

// One gzip member.
Bytes gzipped(const Bytes& bytes);

}  // namespace acgan::test
