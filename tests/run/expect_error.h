#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/error.h"

namespace acgan::test {

// Checks that `action` throws Error{Output} whose message holds all of `words`.
template <typename Action>
void expect_output_error(const Action& action, const std::vector<std::string>& words) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Output);
    for (const std::string& word : words) CHECK_THAT(error.what(), Catch::Contains(word));
    return;
  }
  FAIL_CHECK("no Error was thrown");
}

}  // namespace acgan::test
