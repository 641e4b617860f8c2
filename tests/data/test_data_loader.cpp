#include "data/data_loader.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "base/error.h"
#include "data/data_files.h"
#include "data/dataset.h"

namespace acgan {
namespace {

using Catch::Contains;

std::vector<std::int32_t> dealt(DataLoader& loader, std::size_t count) {
  std::vector<std::int32_t> indices(count, -1);
  loader.next(indices);
  return indices;
}

std::vector<std::int32_t> sorted(std::vector<std::int32_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

// Seven images of two classes, one pixel each.
Dataset small_dataset() {
  return {.height = 1,
          .width = 1,
          .channels = 1,
          .class_names = {"cat", "dog"},
          .images = {1, 2, 3, 4, 5, 6, 7},
          .labels = {0, 1, 0, 1, 1, 0, 1},
          .description = "small set"};
}

}  // namespace

TEST_CASE("every epoch deals every index once, in another order") {
  std::vector<std::int32_t> all(101);
  std::iota(all.begin(), all.end(), 0);
  DataLoader loader(101, 1);
  const auto first = dealt(loader, 101), second = dealt(loader, 101);
  CHECK(sorted(first) == all);
  CHECK(sorted(second) == all);
  CHECK(first != second);
  CHECK(first != all);
  DataLoader other_seed(101, 2);
  CHECK(dealt(other_seed, 101) != first);
}

TEST_CASE("the stream of indices does not depend on the batch size") {
  DataLoader whole(23, 9), parts(23, 9);
  const auto expected = dealt(whole, 230);
  std::vector<std::int32_t> found;
  for (const std::size_t batch : {1, 7, 22, 23, 24, 60, 93}) {  // some span two epochs or more
    const auto part = dealt(parts, batch);
    found.insert(found.end(), part.begin(), part.end());
  }
  CHECK(found == expected);
}

TEST_CASE("a loader goes on from any position") {
  DataLoader loader(23, 9);
  for (const std::size_t before : {0, 5, 18, 1, 22, 23, 40}) {
    dealt(loader, before);
    DataLoader resumed(23, 9);
    resumed.seek(loader.position());
    DataLoader copy = loader;
    CHECK(dealt(resumed, 50) == dealt(copy, 50));
  }
  CHECK(loader.position().epoch * 23 + static_cast<std::uint64_t>(loader.position().index) == 109);
}

TEST_CASE("a position outside the set is an error") {
  DataLoader loader(23, 9);
  for (const std::int64_t index : {std::int64_t{24}, std::int64_t{-1}}) {
    CHECK_THAT(test::error_of(ErrorKind::Output,
                              [&] {
                                loader.seek({2, index});
                              }),
               Contains(std::to_string(index)) && Contains("23 images"));
  }
  CHECK_NOTHROW(loader.seek({2, 23}));
}

TEST_CASE("a set of one image works and an empty one is a broken promise") {
  DataLoader loader(1, 1);
  CHECK(dealt(loader, 3) == std::vector<std::int32_t>{0, 0, 0});
  CHECK_THROWS_AS(DataLoader(0, 1), std::logic_error);
}

TEST_CASE("each place of an epoch sees each index equally often") {
  constexpr int kEpochs = 4000;
  std::vector<int> counts(25, 0);  // [place, index]
  DataLoader loader(5, 3);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const auto order = dealt(loader, 5);
    for (std::size_t place = 0; place < 5; ++place) {
      ++counts[place * 5 + static_cast<std::size_t>(order[place])];
    }
  }
  for (const int count : counts) CHECK(std::abs(count - kEpochs / 5) < 130);  // 5 sigma
}

TEST_CASE("counts and labels of a data set must fit") {
  Dataset dataset = small_dataset();
  CHECK(dataset.counts_by_class() == std::vector<std::int64_t>{3, 4});
  dataset.labels[0] = 2;
  CHECK_THROWS_AS(dataset.counts_by_class(), std::logic_error);
}

TEST_CASE("a data set that cannot feed the run is an error") {
  Dataset dataset = small_dataset();
  CHECK_NOTHROW(check_dataset(dataset, 7));
  CHECK_THAT(test::error_of(ErrorKind::Data, [&] { check_dataset(dataset, 8); }),
             Contains("train.batch is 8") && Contains("only 7 images") && Contains("small set"));
  dataset.class_names.emplace_back("owl");
  CHECK_THAT(test::error_of(ErrorKind::Data, [&] { check_dataset(dataset, 2); }),
             Contains("class 'owl'") && Contains("no image"));
}

TEST_CASE("the fingerprint sees every part of a data set") {
  const std::string original = fingerprint_of(small_dataset());
  CHECK(original.size() == 16);
  CHECK(original.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(fingerprint_of(small_dataset()) == original);
  const auto differs = [&](auto&& change) {
    Dataset dataset = small_dataset();
    change(dataset);
    return fingerprint_of(dataset) != original;
  };
  CHECK(differs([](Dataset& d) { d.images[6] = 8; }));
  CHECK(differs([](Dataset& d) { std::swap(d.images[0], d.images[1]); }));
  CHECK(differs([](Dataset& d) { std::swap(d.labels[0], d.labels[1]); }));
  CHECK(differs([](Dataset& d) { d.class_names[1] = "dig"; }));
  CHECK(differs([](Dataset& d) { d.class_names = {"catd", "og"}; }));
  CHECK(differs([](Dataset& d) { d.width = 2; }));
  CHECK_FALSE(differs([](Dataset& d) { d.description = "elsewhere"; }));
}

}  // namespace acgan
