#pragma once

#include <cstdint>
#include <vector>

namespace acgan::test {

using Bytes = std::vector<std::uint8_t>;

}  // namespace acgan::test
