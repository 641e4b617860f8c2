#include <catch2/catch.hpp>

#include "config/nearest_name.h"

namespace acgan::test {

TEST_CASE("edit distance counts letters and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("batch", "batch") == 0);
  CHECK(edit_distance("batch", "bacth") == 1);
  CHECK(edit_distance("batch", "btach") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("ab", "cd") == 2);
}

TEST_CASE("the nearest name is found, in another section too") {
  const std::vector<std::string> names{"data", "data.kind", "train", "train.batch", "output.keep"};
  CHECK(nearest_name("trian", names) == "train");
  CHECK(nearest_name("train.bach", names) == "train.batch");
  CHECK(nearest_name("batch", names) == "train.batch");
  CHECK(nearest_name("train.keep", names) == "output.keep");
  CHECK(nearest_name("kind", names) == "data.kind");
  CHECK(nearest_name("", names) == "data");
}

}  // namespace acgan::test
