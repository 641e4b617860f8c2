#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "base/format.h"

namespace acgan {

// "1 file", "3 files": a number and what it counts; `nouns` where an s does not make them many.
std::string counted(std::integral auto count, std::string_view noun, std::string_view nouns = "") {
  if (count == 1) return fmt::format("1 {}", noun);
  return nouns.empty() ? fmt::format("{} {}s", count, noun) : fmt::format("{} {}", count, nouns);
}

}  // namespace acgan
